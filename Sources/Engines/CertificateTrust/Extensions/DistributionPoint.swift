// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A place where a list with the certificate in it is found, once it is revoked (RFC 5280, section 4.2.1.13).
public struct DistributionPoint: Sendable {
    /// Other names of the same list; empty where it is named in relation to its issuer.
    public let names: [GeneralName]
    /// Whether the list tells of some reasons for revocation alone.
    public let isLimitedToReasons: Bool
    /// Whether somebody else than the certificate's issuer issues the list.
    public let isIndirect: Bool

    /// Whether who is not in the list is not revoked.
    public var isComplete: Bool { !isLimitedToReasons && !isIndirect }

    /// The names that say where, as `http://crl.example.com/1.crl`.
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
        guard parts.isEmpty else { throw CertificateError("a distribution point has a part that none has") }
    }

    /// The points of an extension, of which there is at least one.
    static func all(_ node: ASN1Node) throws -> [DistributionPoint] {
        let points = try node.members().map(DistributionPoint.init)
        guard !points.isEmpty else { throw CertificateError("a list of distribution points is empty") }
        return points
    }

    /// The full names of a `DistributionPointName`; none where it is one in relation to the issuer's.
    static func names(_ node: ASN1Node) throws -> [GeneralName] {
        if node.isContextSpecific(0) {
            return try GeneralName.all(node, ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific))
        }
        guard node.isContextSpecific(1) else {
            throw CertificateError("a distribution point's name is of an unknown kind")
        }
        return []
    }
}
