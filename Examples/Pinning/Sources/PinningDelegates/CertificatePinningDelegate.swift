// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Accepts the server with the certificate of the app's bundle, byte for byte.
///
/// It compares the certificate alone, and leaves the chain, the name and the dates to the session.
public final class CertificatePinningDelegate: NSObject, URLSessionDelegate {
    private let pinnedCertificate: Data

    /// - Parameter pinnedCertificate: DER, as in the app's bundle.
    public init(pinnedCertificate: Data) {
        self.pinnedCertificate = pinnedCertificate
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
        guard let chain = SecTrustCopyCertificateChain(serverTrust) as? [SecCertificate], let leaf = chain.first else {
            completionHandler(.cancelAuthenticationChallenge, nil)
            return
        }
        let serverCertificate = SecCertificateCopyData(leaf) as Data
        if serverCertificate == pinnedCertificate {
            completionHandler(.useCredential, URLCredential(trust: serverTrust))
        } else {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}
