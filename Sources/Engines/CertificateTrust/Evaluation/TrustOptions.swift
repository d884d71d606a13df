// SPDX-License-Identifier: Apache-2.0

/// What a program overlooks, or asks for besides its policies. The numbers are Apple's `SecTrustOptionFlags`.
public struct TrustOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Certificates may have expired.
    public static let allowExpired = TrustOptions(rawValue: 0x01)
    /// The leaf of a server may be an authority's certificate.
    public static let leafIsCA = TrustOptions(rawValue: 0x02)
    /// Issuers may be fetched. None are, here.
    public static let fetchIssuerFromNet = TrustOptions(rawValue: 0x04)
    /// A root, and nothing below it, may have expired.
    public static let allowExpiredRoot = TrustOptions(rawValue: 0x08)
    /// Every certificate below the anchor has to be known not to be revoked.
    public static let requireRevocationPerCertificate = TrustOptions(rawValue: 0x10)
    /// Trust settings count. They always do, here.
    public static let useTrustSettings = TrustOptions(rawValue: 0x20)
    /// Presented certificates that have signed themselves are anchors.
    public static let implicitAnchors = TrustOptions(rawValue: 0x40)

    /// Whether every flag is one that is known.
    public var isUnderstood: Bool { rawValue & ~0x7F == 0 }

    /// Whether a failure about a certificate counts for nothing.
    func ignores(_ failure: TrustFailure, about certificate: Certificate) -> Bool {
        switch failure.rule {
        case .expired: contains(.allowExpired) || contains(.allowExpiredRoot) && certificate.isSelfIssued
        case .endEntity: contains(.leafIsCA)
        default: false
        }
    }

    /// How revocation is looked at; nil where it is not asked.
    var revocationOptions: RevocationOptions? {
        contains(.requireRevocationPerCertificate) ? [.ocsp, .lists, .requiresPositiveResponse] : nil
    }

    /// The presented certificates that are anchors. Each costs a signature, hence the limit.
    func anchors(among certificates: [Certificate]) -> [Certificate] {
        guard contains(.implicitAnchors) else { return [] }
        return certificates.lazy.filter(\.isSelfIssued).prefix(Self.maxImplicitAnchors).filter(\.isSelfSigned)
    }

    private static let maxImplicitAnchors = 16
}

extension Certificate {
    /// Whether the certificate's own key has signed it.
    fileprivate var isSelfSigned: Bool {
        (try? verificationKey().isSignature(signature, of: signedBytes, signatureAlgorithm)) ?? false
    }
}
