// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import LinuxSystem

/// The answers to the 407s of proxies during a load. Basic alone is supported.
struct ProxyAuthentication: Sendable {
    private struct Answer: Sendable {
        let proxy: HTTPProxyPlace
        /// The value of `Proxy-Authorization`.
        let authorization: String
        let isForSession: Bool
    }

    private var answer: Answer?
    private var failures = 0

    private static let maxFailures = 20

    /// The value of `Proxy-Authorization` for a proxy; nil if the program has given no password for
    /// it.
    func authorization(_ proxy: HTTPProxyPlace, _ passwords: ProxyPasswords) -> String? {
        if let answer, answer.proxy == proxy { return answer.authorization }
        return passwords.value(for: proxy)
    }

    /// The state for another request after a 407; nil if the 407 is final.
    ///
    /// - Parameter isTunnel: whether the proxy was asked for a tunnel, and not for a resource.
    /// - Throws: if the program cancels the challenge.
    func next(
        _ challenge: HTTPProxyChallenge, isTunnel: Bool, _ url: URL, _ events: any LoadEvents
    ) async throws(LoadError) -> ProxyAuthentication? {
        var next = self
        // Another proxy, after a redirect, has not failed.
        next.failures = answer?.proxy == challenge.proxy ? failures + 1 : 0
        let offered = AuthenticateField.challenges(challenge.fields.values(of: "Proxy-Authenticate"))
        guard next.failures < Self.maxFailures,
            let realm = offered.first(where: { $0.scheme == "basic" })?.realm
        else { return nil }
        let space = URLProtectionSpace(
            proxyHost: challenge.proxy.host, port: challenge.proxy.port,
            type: isTunnel ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy, realm: realm,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let question = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: next.failures,
            failureResponse: Self.response(challenge, url), error: nil, sender: ChallengeSender())
        let given = await events.answer(question, isForConnection: false)
        switch given.disposition {
        case .performDefaultHandling, .rejectProtectionSpace: return nil
        case .cancelAuthenticationChallenge: throw given.isLate ? .timedOut(url) : .cancelled(url)
        case .useCredential: break
        }
        guard let credential = given.credential, let user = credential.user, let password = credential.password else {
            return nil
        }
        // EXPOSE: Basic authentication sends the password itself, to the proxy that the program
        // named.
        let encoded = Base64.text("\(user):\(password)".utf8)
        next.answer = Answer(
            proxy: challenge.proxy, authorization: "Basic \(encoded)", isForSession: credential.persistence != .none)
        return next
    }

    /// Keeps a password that the proxy has accepted for the session, if the credential says so.
    func keep(in passwords: ProxyPasswords) {
        guard let answer, answer.isForSession else { return }
        passwords.set(answer.authorization, for: answer.proxy)
    }

    private static func response(_ challenge: HTTPProxyChallenge, _ url: URL) -> HTTPURLResponse? {
        let fields = Dictionary(challenge.fields.map { ($0.name, $0.value) }) { "\($0), \($1)" }
        return HTTPURLResponse(url: url, statusCode: 407, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}

/// The passwords for proxies that a session has used. They are in memory alone.
final class ProxyPasswords: Sendable {
    private let values = SystemMutex<[HTTPProxyPlace: String]>([:])

    func value(for proxy: HTTPProxyPlace) -> String? { values.withLock { $0[proxy] } }
    func set(_ value: String, for proxy: HTTPProxyPlace) { values.withLock { $0[proxy] = value } }
}
