// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Security

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Judges servers for a session: the chain first, the host with it, then the pins of the app.
public final class TrustDelegate: NSObject, URLSessionDelegate {
    /// What an app ships with.
    public struct Expectations: Sendable {
        /// Certificates that the server has to have one of, in DER. Without any, every trusted one will do.
        public var certificates: [Data] = []
        /// SHA-256 of public keys, in base64, one of which has to be in the chain. Without any, every key will do.
        public var keys: [String] = []
        /// The app's own authorities, in DER.
        public var anchors: [Data] = []
        /// Whether the system's authorities count beside the app's own.
        public var trustsSystem = true

        public init() {}
    }

    private let expectations: Expectations
    private let refused: @Sendable (String) -> Void

    /// - Parameter refused: told what is wrong with a server that is not the right one.
    public init(_ expectations: Expectations, refused: @escaping @Sendable (String) -> Void) {
        self.expectations = expectations
        self.refused = refused
    }

    // On Linux the compiler says that no session asks: here tlscheck does, and this says that it is known.
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
        // The name is checked by the policy alone: the basic one asks for none.
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
                return "the server has another certificate than the app knows"
            }
        }
        if !expectations.keys.isEmpty {
            let keys = chain.compactMap { SecCertificateCopySubjectPublicKeyInfoSHA256Digest($0) as Data? }
            guard keys.contains(where: { expectations.keys.contains($0.base64EncodedString()) }) else {
                return "no key of the chain is one that the app knows"
            }
        }
        return nil
    }
}
