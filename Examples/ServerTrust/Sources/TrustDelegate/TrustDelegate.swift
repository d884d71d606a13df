// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Security

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Evaluates servers for a session: first the chain and the host, then the pins of the app.
public final class TrustDelegate: NSObject, URLSessionDelegate {
    /// The configuration that an app ships with.
    public struct Expectations: Sendable {
        /// Certificates in DER; the server's must be one of them. If empty, every trusted
        /// certificate is accepted.
        public var certificates: [Data] = []
        /// SHA-256 digests of public keys in base64; the chain must contain one of the keys. If
        /// empty, every key is accepted.
        public var keys: [String] = []
        /// The app's own CA certificates, in DER.
        public var anchors: [Data] = []
        /// Whether the system's CA certificates are trusted in addition to the app's.
        public var trustsSystem = true

        public init() {}
    }

    private let expectations: Expectations
    private let refused: @Sendable (String) -> Void

    /// - Parameter refused: called with the reason if a server is refused.
    public init(_ expectations: Expectations, refused: @escaping @Sendable (String) -> Void) {
        self.expectations = expectations
        self.refused = refused
    }

    // On Linux the compiler warns that no session issues this challenge. Here tlscheck does, and
    // the deprecation of this method silences the warning.
    @available(*, deprecated, message: "URLSession on Linux does not call this; tlscheck does.")
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let trust = challenge.protectionSpace.serverTrust
        else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        if let problem = problem(with: trust, of: challenge.protectionSpace.host) {
            refused(problem)
            completionHandler(.cancelAuthenticationChallenge, nil)
        } else {
            completionHandler(.useCredential, URLCredential(trust: trust))
        }
    }

    private func problem(with trust: SecTrust, of host: String) -> String? {
        // Only the policy checks the name: the basic policy does not require one.
        var policies: CFArray?
        SecTrustCopyPolicies(trust, &policies)
        let asksForHost = (policies as? [SecPolicy] ?? []).contains { policy in
            SecPolicyCopyProperties(policy)?[kSecPolicyName] as? String == host
        }
        if !asksForHost { SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, host as CFString)) }

        if !expectations.anchors.isEmpty || !expectations.trustsSystem {
            let anchors = expectations.anchors.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            SecTrustSetAnchorCertificates(trust, anchors as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, !expectations.trustsSystem)
        }

        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else {
            return "\(error?.code ?? 0) \(error?.localizedDescription ?? "")"
        }

        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
        if !expectations.certificates.isEmpty {
            guard let leaf = chain.first, expectations.certificates.contains(SecCertificateCopyData(leaf) as Data)
            else {
                return "the server's certificate is not one of the pinned certificates"
            }
        }
        if !expectations.keys.isEmpty {
            let keys = chain.compactMap { SecCertificateCopySubjectPublicKeyInfoSHA256Digest($0) as Data? }
            guard keys.contains(where: { expectations.keys.contains($0.base64EncodedString()) }) else {
                return "the chain does not contain a pinned key"
            }
        }
        return nil
    }
}
