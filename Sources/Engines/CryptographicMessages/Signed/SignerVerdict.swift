// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// The verdict on one signature. `TrustEvaluation` decides separately whether its certificate is trusted.
public enum SignerVerdict: Hashable, Sendable {
    /// The key of the certificate signed the content.
    case valid(Certificate)
    /// The same, but the signature does not protect from a forger: it must not count as valid.
    case weak(Certificate, reason: String)
    /// The content is not in the message and was not given.
    case needsContent
    /// The signature is not one of this content.
    case invalid(reason: String)
    /// No certificate, or more than one, has the name that the signer gives.
    case noCertificate(reason: String)

    /// The certificate of the key that made the signature; nil if there is none.
    public var certificate: Certificate? {
        switch self {
        case .valid(let certificate), .weak(let certificate, _): certificate
        case .needsContent, .invalid, .noCertificate: nil
        }
    }
}

extension SignerVerdict: CustomStringConvertible {
    public var description: String {
        switch self {
        case .valid: "the signature is valid"
        case .weak(_, let reason): "the signature matches, but is weak: \(reason)"
        case .needsContent: "the content is not in the message"
        case .invalid(let reason), .noCertificate(let reason): reason
        }
    }
}
