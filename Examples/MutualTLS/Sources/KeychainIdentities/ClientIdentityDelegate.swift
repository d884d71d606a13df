// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Shows the app's identity to servers that ask for a certificate. The session evaluates the server.
public final class ClientIdentityDelegate: NSObject, URLSessionDelegate {
    private let label: String?

    /// - Parameter label: the identity's label in the keychain; nil shows no certificate.
    public init(label: String?) {
        self.label = label
    }

    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate,
            let label
        else { return completionHandler(.performDefaultHandling, nil) }
        guard let identity = KeychainIdentities.identity(label: label) else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)
        completionHandler(.useCredential, credential)
    }
}
