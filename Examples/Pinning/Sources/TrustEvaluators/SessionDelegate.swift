// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The delegate of a session that asks the manager's evaluators about servers.
public final class SessionDelegate: NSObject, URLSessionDelegate {
    private let manager: ServerTrustManager
    private let refused: @Sendable (any Error) -> Void

    /// - Parameter refused: called with the reason if a server is refused.
    public init(_ manager: ServerTrustManager, refused: @escaping @Sendable (any Error) -> Void) {
        (self.manager, self.refused) = (manager, refused)
    }

    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        do {
            guard let evaluator = try manager.serverTrustEvaluator(forHost: space.host) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            try evaluator.evaluate(trust, forHost: space.host)
            completionHandler(.useCredential, URLCredential(trust: trust))
        } catch {
            refused(error)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}
