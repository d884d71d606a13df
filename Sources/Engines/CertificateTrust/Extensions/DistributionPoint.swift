// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A CRL distribution point: where the CRL that covers the certificate is found (RFC 5280, section
/// 4.2.1.13).
public struct DistributionPoint: Sendable {
    /// The full names of the point; empty if its name is relative to the CRL issuer.
    public let names: [GeneralName]
    /// Whether the CRL covers only some revocation reasons.
    public let isLimitedToReasons: Bool
    /// Whether the CRL is issued by another issuer than the certificate's.
    public let isIndirect: Bool

    /// Whether a certificate that is not in the CRL is not revoked: the CRL covers all reasons and
    /// is not indirect.
    public var isComplete: Bool { !isLimitedToReasons && !isIndirect }

    /// The URIs of the CRL, such as `http://crl.example.com/1.crl`.
    public var locations: [String] {
        names.compactMap { if case .uri(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil } }
    }

    init(_ node: ASN1Node) throws {
        var parts = try node.members()[...]
        if let first = parts.first, first.isContextSpecific(0) {
            names = try Self.names(parts.removeFirst().explicit(0))
        } else {
            names = []
        }
        isLimitedToReasons = parts.first?.isContextSpecific(1) == true
        if isLimitedToReasons { parts.removeFirst() }
        isIndirect = parts.first?.isContextSpecific(2) == true
        if isIndirect { parts.removeFirst() }
        guard parts.isEmpty else { throw CertificateError("unexpected field in a distribution point") }
    }

    /// The distribution points of an extension, at least one.
    static func all(_ node: ASN1Node) throws -> [DistributionPoint] {
        let points = try node.members().map(DistributionPoint.init)
        guard !points.isEmpty else { throw CertificateError("a list of distribution points is empty") }
        return points
    }

    /// The full names of a `DistributionPointName`; empty for a name relative to the CRL issuer.
    static func names(_ node: ASN1Node) throws -> [GeneralName] {
        if node.isContextSpecific(0) {
            return try GeneralName.all(node, ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific))
        }
        guard node.isContextSpecific(1) else {
            throw CertificateError("unknown kind of distribution point name")
        }
        return []
    }
}
