// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Which certificates of its issuer a list is about (RFC 5280, section 5.2.5): those that name the same place, or are of one kind.
struct IssuingDistributionPoint: Sendable {
    /// Nil where the list is for all places.
    private let names: [GeneralName]?
    private let onlyEndEntityCertificates: Bool
    private let onlyCACertificates: Bool
    private let isLimitedToReasons: Bool
    /// What makes it no list for anybody here: of several issuers, of attribute certificates.
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
                throw CertificateError("a flag of a list's distribution point is none")
            }
            flags.insert(tag)
        }
        guard parts.isEmpty else { throw CertificateError("a list's distribution point has a part that none has") }
        (onlyEndEntityCertificates, onlyCACertificates, isLimitedToReasons) = (
            flags.contains(1), flags.contains(2), flags.contains(3)
        )
        unsupportedFeature =
            if flags.contains(4) { "it is of several issuers" } else if flags.contains(5) {
                "it is of attribute certificates"
            } else { nil }
    }

    /// Why the list is not about the certificate; nil where it is.
    func rejectionReason(for certificate: Certificate) -> String? {
        if let unsupportedFeature { return "the list does not count: \(unsupportedFeature)" }
        let isCA = certificate.extensions.basicConstraints?.isCA ?? false
        if onlyEndEntityCertificates, isCA { return "the list is of end entities" }
        if onlyCACertificates, !isCA { return "the list is of authorities" }
        let points = (certificate.extensions.crlDistributionPoints ?? []).filter { !$0.isIndirect }
        return isNamed(by: points, of: certificate) ? nil : "the list is for other distribution points"
    }

    /// Whether a certificate that is not in the list may be revoked all the same, for another reason than those it tells of.
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
    /// Whether the two name one list: the same URI, or one directory name.
    fileprivate func isSameList(as other: GeneralName) -> Bool {
        switch (self, other) {
        case (.uri(let one), .uri(let two)): one == two
        case (.directory(let one), .directory(let two)): one.matches(two)
        default: false
        }
    }
}
