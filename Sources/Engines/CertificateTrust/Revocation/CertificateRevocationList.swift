// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A list of revoked certificates (RFC 5280, section 5). One that says something critical which is not understood, as one for some of an issuer's
/// certificates alone does, is read and counts for nothing.
public final class CertificateRevocationList: Sendable {
    public let issuer: DistinguishedName
    public let thisUpdate: CertificateTime
    /// When the next one is issued; nil where that is not said.
    public let nextUpdate: CertificateTime?
    /// When each was revoked, by its serial number.
    private let revoked: [[UInt8]: CertificateTime]
    private let signature: SignedObject
    private let unknown: [ObjectIdentifier]

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
            critical += try Self.critical(first.explicit(0), except: [.authorityKeyIdentifier, .crlNumber])
            parts.removeFirst()
        }
        guard parts.isEmpty else { throw CertificateError("a revocation list has a part that none has") }
        (nextUpdate, revoked, unknown) = (next, entries, critical)
    }

    private static func critical(_ node: ASN1Node, except known: Set<ObjectIdentifier>) throws -> [ObjectIdentifier] {
        try node.members().map(CertificateExtension.init).filter { $0.isCritical && !known.contains($0.identifier) }.map(\.identifier)
    }

    /// What the list says of a certificate that this issuer has issued.
    func status(of certificate: Certificate, issuer authority: Certificate, at moment: Double) -> RevocationStatus {
        guard issuer.matches(certificate.issuer) else { return .unknown("it is another issuer's list") }
        if let first = unknown.first { return .unknown("the extension \(first) of the list is critical, and not understood") }
        guard authority.extensions.keyUsage?.contains(.crlSign) ?? true else { return .unknown("the issuer may not sign lists") }
        guard moment >= Double(thisUpdate.secondsSince1970) else { return .unknown("the list is of \(thisUpdate)") }
        guard let nextUpdate, moment <= Double(nextUpdate.secondsSince1970) else { return .unknown("a newer list is to be had") }
        guard signature.isSigned(by: authority) else { return .unknown("the list is not signed by the issuer") }
        return revoked[Array(certificate.serialNumber)].map { .revoked(at: $0) } ?? .good
    }
}
