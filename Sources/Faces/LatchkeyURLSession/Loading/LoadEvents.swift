// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LatchkeyNIOSSL

/// The questions and the reports of a load to a program. Every question may be answered late or never: the load stops
/// waiting when the request times out.
protocol LoadEvents: Sendable {
    /// Whether anything can answer the challenges of a connection. If not, the policy decides alone.
    var answersConnections: Bool { get }
    /// - Parameter isForConnection: whether the challenge is about the connection (the server, or
    ///   the client's certificate), and not about one request.
    func answer(_ challenge: URLAuthenticationChallenge, isForConnection: Bool) async -> ChallengeAnswer
    /// The request to follow; nil if the redirect itself is the result.
    func redirect(_ response: HTTPURLResponse, to request: URLRequest) async -> URLRequest?
    func newBodyStream() async -> StreamHandle?
    func sent(_ count: Int, total: Int, expected: Int?)
    /// Returns the form of a response to store in the cache; nil if it may not be stored.
    func willCache(_ response: CachedURLResponse) async -> CachedURLResponse?
}

/// The answer to a challenge.
struct ChallengeAnswer: Sendable {
    let disposition: URLSession.AuthChallengeDisposition
    var credential: URLCredential?
    /// Whether nothing was answered within the time limit of the request.
    var isLate = false

    static let defaultHandling = ChallengeAnswer(disposition: .performDefaultHandling)
    static let late = ChallengeAnswer(disposition: .cancelAuthenticationChallenge, isLate: true)
    static let cancelled = ChallengeAnswer(disposition: .cancelAuthenticationChallenge)
}
