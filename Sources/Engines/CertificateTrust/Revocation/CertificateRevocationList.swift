// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A list of revoked certificates (RFC 5280, section 5). One that says something critical which is not understood, as one of differences to another
/// list does, is read and counts for nothing.
public final class CertificateRevocationList: Sendable {
    public let issuer: DistinguishedName
    public let thisUpdate: CertificateTime
    /// When the next one is issued; nil where that is not said.
    public let nextUpdate: CertificateTime?
    /// When each was revoked, by its serial number.
    private let revoked: [[UInt8]: CertificateTime]
    private let signature: SignedObject
    private let unknown: [ObjectIdentifier]
    /// Which of its issuer's certificates the list is about; nil for all.
    private let scope: IssuingDistributionPoint?

    /// The most bytes of a list that is fetched, or found on the disk.
    public static let greatestLength = 16 << 20

    /// How many certificates are revoked.
    public var count: Int { revoked.count }

    /// - Parameter der: one DER `SEQUENCE`, and nothing behind it.
    public convenience init(der: [UInt8]) throws(CertificateError) {
        do {
            try self.init(DER.parse(der))
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("the bytes are no revocation list: \(error)")
        }
    }

    /// The lists of a file: PEM of any number, or one in DER.
    public static func all(_ bytes: [UInt8]) throws(CertificateError) -> [CertificateRevocationList] {
        guard bytes.first != 0x30 else { return [try CertificateRevocationList(der: bytes)] }
        var lists: [CertificateRevocationList] = []
        for (_, content) in PEMText.blocks(in: bytes, labels: ["X509 CRL", "CRL"]) {
            guard let content else { throw CertificateError("a block has no end, or its content is no base64") }
            lists.append(try CertificateRevocationList(der: content))
        }
        guard !lists.isEmpty else { throw CertificateError("there is no revocation list") }
        return lists
    }

    private init(_ node: ASN1Node) throws {
        let members = try node.members()
        guard members.count == 3 else { throw CertificateError("a revocation list has \(members.count) parts, not 3") }
        signature = try SignedObject(members[0], members[1], members[2])
        var parts = try members[0].members()[...]
        if parts.first?.identifier == .integer { _ = try parts.removeFirst().number(upTo: 1) }
        guard parts.count >= 3 else { throw CertificateError("a revocation list lacks a part") }
        guard try AlgorithmIdentifier(parts.removeFirst()) == AlgorithmIdentifier(members[1]) else {
            throw CertificateError("the signature's algorithm is another one inside than outside")
        }
        issuer = try DistinguishedName(parts.removeFirst())
        thisUpdate = try CertificateTime(parts.removeFirst())
        var (next, entries, critical): (CertificateTime?, [[UInt8]: CertificateTime], [ObjectIdentifier]) = (nil, [:], [])
        if let first = parts.first, first.identifier == .utcTime || first.identifier == .generalizedTime {
            next = try CertificateTime(parts.removeFirst())
        }
        if let first = parts.first, first.identifier == .sequence {
            parts.removeFirst()
            for entry in try first.members() {
                let fields = try entry.members()
                guard fields.count == 2 || fields.count == 3 else { throw CertificateError("an entry has \(fields.count) parts") }
                entries[Array(try fields[0].integerContent())] = try CertificateTime(fields[1])
                if fields.count == 3 { critical += try Self.critical(fields[2], except: [.reasonCode, .invalidityDate]) }
            }
        }
        if let first = parts.first {
            let extensions = try first.explicit(0)
            critical += try Self.critical(extensions, except: [.authorityKeyIdentifier, .crlNumber, .issuingDistributionPoint])
            scope = try Self.scope(extensions)
            parts.removeFirst()
        } else {
            scope = nil
        }
        guard parts.isEmpty else { throw CertificateError("a revocation list has a part that none has") }
        (nextUpdate, revoked, unknown) = (next, entries, critical)
    }

    private static func critical(_ node: ASN1Node, except known: Set<ObjectIdentifier>) throws -> [ObjectIdentifier] {
        try node.members().map(CertificateExtension.init).filter { $0.isCritical && !known.contains($0.identifier) }.map(\.identifier)
    }

    private static func scope(_ node: ASN1Node) throws -> IssuingDistributionPoint? {
        let found = try node.members().map(CertificateExtension.init).first { $0.identifier == .issuingDistributionPoint }
        return try found.map { try IssuingDistributionPoint(DER.parse($0.value)) }
    }
}

extension CertificateRevocationList: RevocationStatement {
    func isAbout(_ certificate: Certificate, of authority: Certificate) -> Bool { issuer.matches(certificate.issuer) }

    func status(of certificate: Certificate, issuer authority: Certificate, at moment: Double) -> RevocationStatus {
        guard issuer.matches(certificate.issuer) else { return .unknown("the list is another issuer's") }
        if let first = unknown.first { return .unknown("the extension \(first) of the list is critical, and not understood") }
        if let reason = scope?.reason(against: certificate) { return .unknown(reason) }
        guard authority.extensions.keyUsage?.contains(.crlSign) ?? true else { return .unknown("the issuer may not sign lists") }
        guard moment >= Double(thisUpdate.secondsSince1970) else { return .unknown("the list is of \(thisUpdate)") }
        guard let end = nextUpdate.map({ Double($0.secondsSince1970) }), moment <= end else {
            return .unknown("a newer list than that of \(thisUpdate) is to be had")
        }
        guard signature.isSigned(by: authority) else { return .unknown("the list is not signed by the issuer") }
        return revoked[Array(certificate.serialNumber)].map { .revoked(at: $0) } ?? .good(until: end)
    }
}
