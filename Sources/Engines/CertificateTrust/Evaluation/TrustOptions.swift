// SPDX-License-Identifier: Apache-2.0

/// The failures that a program ignores, and its requirements in addition to its policies. The values are Apple's
/// `SecTrustOptionFlags`.
public struct TrustOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Expired certificates are accepted.
    public static let allowExpired = TrustOptions(rawValue: 0x01)
    /// A server's leaf may be a CA certificate.
    public static let leafIsCA = TrustOptions(rawValue: 0x02)
    /// Issuers may be fetched. Accepted without effect: issuers are never fetched here.
    public static let fetchIssuerFromNet = TrustOptions(rawValue: 0x04)
    /// An expired root is accepted, but no other expired certificate.
    public static let allowExpiredRoot = TrustOptions(rawValue: 0x08)
    /// Every certificate below the anchor must be confirmed not revoked.
    public static let requireRevocationPerCertificate = TrustOptions(rawValue: 0x10)
    /// Trust settings are used. Accepted without effect: they are always used here.
    public static let useTrustSettings = TrustOptions(rawValue: 0x20)
    /// Self-signed certificates that were presented are anchors.
    public static let implicitAnchors = TrustOptions(rawValue: 0x40)

    /// Whether all flags are known.
    public var isUnderstood: Bool { rawValue & ~0x7F == 0 }

    /// Whether the options ignore this failure of the certificate.
    func ignores(_ failure: TrustFailure, about certificate: Certificate) -> Bool {
        switch failure.rule {
        case .expired: contains(.allowExpired) || contains(.allowExpiredRoot) && certificate.isSelfIssued
        case .endEntity: contains(.leafIsCA)
        default: false
        }
    }

    /// How revocation is checked; nil if these options do not require it.
    var revocationOptions: RevocationOptions? {
        contains(.requireRevocationPerCertificate) ? [.ocsp, .lists, .requiresPositiveResponse] : nil
    }

    /// The presented certificates that are anchors. The number is limited, because each costs a
    /// signature verification.
    func anchors(among certificates: [Certificate]) -> [Certificate] {
        guard contains(.implicitAnchors) else { return [] }
        return certificates.lazy.filter(\.isSelfIssued).prefix(Self.maxImplicitAnchors).filter(\.isSelfSigned)
    }

    private static let maxImplicitAnchors = 16
}

extension Certificate {
    /// Whether the certificate is signed by its own key.
    fileprivate var isSelfSigned: Bool {
        (try? verificationKey().isSignature(signature, of: signedBytes, signatureAlgorithm)) ?? false
    }
}
