// SPDX-License-Identifier: Apache-2.0

public import FoundationNetworking

/// The asynchronous forms of the methods of a delegate; Foundation on Linux never calls them.
///
/// A delegate that has them conforms to this protocol as well:
///
/// ```swift
/// final class Pinning: NSObject, URLSessionDelegate, LatchkeySessionDelegate {
///     func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge)
///         async -> (URLSession.AuthChallengeDisposition, URLCredential?) { … }
/// }
/// ```
///
/// A method that answers `.performDefaultHandling` lets the form with a completion handler decide.
public protocol LatchkeySessionDelegate: AnyObject, Sendable {
    /// Answers a challenge of a connection: the server's trust, or the client's certificate.
    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    )

    /// Answers a challenge of a request, or one of a connection that the session's form does not
    /// answer.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
        async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Returns the request to follow; nil if the redirect itself is the result. The form with a
    /// completion handler is asked about the returned request.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?
}

extension LatchkeySessionDelegate {
    /// The default handling.
    public func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    ) { (.performDefaultHandling, nil) }

    /// The default handling.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    )
        async -> (URLSession.AuthChallengeDisposition, URLCredential?)
    { (.performDefaultHandling, nil) }

    /// Follows the redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? { request }
}
