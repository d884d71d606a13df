// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The scope of a CRL (RFC 5280, section 5.2.5): the certificates that name the same distribution
/// point, or that are of one kind.
struct IssuingDistributionPoint: Sendable {
    /// Nil if the CRL is for all distribution points.
    private let names: [GeneralName]?
    private let onlyEndEntityCertificates: Bool
    private let onlyCACertificates: Bool
    private let isLimitedToReasons: Bool
    /// Why CRLs of this kind are not used; nil if they are.
    private let unsupportedFeature: String?

    init(_ node: ASN1Node) throws {
        var parts = try node.members()[...]
        names =
            parts.first?.isContextSpecific(0) == true
            ? try DistributionPoint.names(parts.removeFirst().explicit(0)) : nil
        var flags: Set<UInt> = []
        for tag in 1...5 as ClosedRange<UInt> {
            guard let content = parts.first?.implicit(tag) else { continue }
            parts.removeFirst()
            guard tag == 3 || content.elementsEqual([0xFF]) else {
                throw CertificateError("a BOOLEAN of an issuing distribution point must be TRUE")
            }
            flags.insert(tag)
        }
        guard parts.isEmpty else { throw CertificateError("unexpected field in an issuing distribution point") }
        (onlyEndEntityCertificates, onlyCACertificates, isLimitedToReasons) = (
            flags.contains(1), flags.contains(2), flags.contains(3)
        )
        unsupportedFeature =
            if flags.contains(4) { "indirect CRLs are not supported" } else if flags.contains(5) {
                "CRLs of attribute certificates are not supported"
            } else { nil }
    }

    /// Why the CRL does not cover the certificate; nil if it does.
    func rejectionReason(for certificate: Certificate) -> String? {
        if let unsupportedFeature { return "the CRL is not used: \(unsupportedFeature)" }
        let isCA = certificate.extensions.basicConstraints?.isCA ?? false
        if onlyEndEntityCertificates, isCA { return "the CRL covers only end entities" }
        if onlyCACertificates, !isCA { return "the CRL covers only CAs" }
        let points = (certificate.extensions.crlDistributionPoints ?? []).filter { !$0.isIndirect }
        return isNamed(by: points, of: certificate) ? nil : "the CRL is for other distribution points"
    }

    /// Whether a certificate that is not in the CRL may still be revoked, for a reason that the CRL
    /// does not cover.
    func excludes(_ certificate: Certificate) -> Bool {
        isLimitedToReasons
            || !isNamed(by: (certificate.extensions.crlDistributionPoints ?? []).filter(\.isComplete), of: certificate)
    }

    private func isNamed(by points: [DistributionPoint], of certificate: Certificate) -> Bool {
        guard let names else { return true }
        let hasNone = certificate.extensions.crlDistributionPoints == nil
        let own = points.flatMap(\.names) + (hasNone ? [.directory(certificate.issuer)] : [])
        return names.contains { name in own.contains { $0.isSameList(as: name) } }
    }
}

extension GeneralName {
    /// Whether both names are the same distribution point: equal URIs or equal directory names.
    fileprivate func isSameList(as other: GeneralName) -> Bool {
        switch (self, other) {
        case (.uri(let one), .uri(let two)): one == two
        case (.directory(let one), .directory(let two)): one.matches(two)
        default: false
        }
    }
}
