// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Accepts a trusted server with a public key that has one of the app's digests: a new certificate for the same key
/// needs no new version of the app.
public final class PublicKeyPinningDelegate: NSObject, URLSessionDelegate {
    private let pinnedKeyHashes: Set<String>

    /// - Parameter pinnedKeyHashes: SHA-256 digests of public keys, in base64.
    public init(pinnedKeyHashes: Set<String>) {
        self.pinnedKeyHashes = pinnedKeyHashes
    }

    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let serverTrust = challenge.protectionSpace.serverTrust
        else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        SecTrustSetPolicies(serverTrust, SecPolicyCreateSSL(true, challenge.protectionSpace.host as CFString))
        guard SecTrustEvaluateWithError(serverTrust, nil), let key = SecTrustCopyKey(serverTrust),
            let hash = PublicKeyHash.sha256(of: key), pinnedKeyHashes.contains(hash)
        else {
            completionHandler(.cancelAuthenticationChallenge, nil)
            return
        }
        completionHandler(.useCredential, URLCredential(trust: serverTrust))
    }
}
