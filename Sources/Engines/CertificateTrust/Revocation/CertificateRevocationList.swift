// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SwiftASN1

/// A certificate revocation list, CRL (RFC 5280, section 5).
///
/// A CRL with an unsupported critical extension is read, but is not used. These show that a certificate is revoked, but
/// never that it is not: a delta CRL, a CRL for some reasons only, and a CRL with a missing, invalid or critical number
/// (section 5.2.3).
public final class CertificateRevocationList: Sendable {
    public let issuer: DistinguishedName
    public let thisUpdate: CertificateTime
    /// The latest time of the next CRL; nil if the CRL does not state it.
    public let nextUpdate: CertificateTime?
    /// The number of revoked certificates.
    public let count: Int
    /// The encoded entries. They are not parsed into values, because a CRL can have hundreds of
    /// thousands and each lookup needs one.
    private let entries: ArraySlice<UInt8>
    private let signature: SignedObject
    private let unknown: [ObjectIdentifier]
    /// The certificates of the issuer that the CRL covers; nil for all.
    private let scope: IssuingDistributionPoint?
    /// Whether this is a delta CRL, with only the changes since another CRL.
    private let isDelta: Bool
    /// The defect of the CRL number; nil if it is valid.
    private let numberDefect: String?

    /// The maximum size of a CRL that is fetched or read from disk, in bytes.
    public static let maxLength = 16 << 20

    /// - Parameter der: one DER `SEQUENCE` without trailing bytes.
    public convenience init(der: [UInt8]) throws(CertificateError) {
        do {
            try self.init(reading: der)
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("not a CRL: \(error)")
        }
    }

    /// The CRLs of a file that can be read, and the error of each that cannot, with its line in PEM.
    static func parse(_ bytes: [UInt8]) -> (lists: [CertificateRevocationList], errors: [CertificateError]) {
        var (lists, errors): ([CertificateRevocationList], [CertificateError]) = ([], [])
        func take(_ der: [UInt8], _ place: String) {
            do throws(CertificateError) { lists.append(try CertificateRevocationList(der: der)) } catch {
                errors.append(CertificateError("\(place)\(error)"))
            }
        }
        guard !bytes.withUnsafeBytes(PEMBlocks.isDER) else {
            take(bytes, "")
            return (lists, errors)
        }
        for (line, part) in bytes.withUnsafeBytes({ PEMText.parts(in: $0, labels: labels) }) {
            switch part {
            case .block(_, let content): take(content, "line \(line): ")
            // An unread part may have revoked a certificate.
            case .damaged(let error, _), .unknown(let error): errors.append(CertificateError("line \(line): \(error)"))
            }
        }
        return (lists, errors)
    }

    private static let labels = ["X509 CRL", "CRL"]

    /// The CRLs of a file: any number in PEM, or one in DER.
    ///
    /// - Throws: if there is no CRL, or one cannot be read.
    public static func all(_ bytes: [UInt8]) throws(CertificateError) -> [CertificateRevocationList] {
        let (lists, errors) = parse(bytes)
        if let first = errors.first { throw first }
        guard !lists.isEmpty else { throw CertificateError("no CRL found") }
        return lists
    }

    private init(reading der: [UInt8]) throws {
        let members = try DERReader.members(of: der[...])
        guard members.count == 3 else { throw CertificateError("a CRL must have 3 fields, found \(members.count)") }
        let algorithm = try Self.node(members[1])
        signature = try SignedObject(of: members[0].encoded, algorithm, Self.node(members[2]))
        var parts = try DERReader.members(of: members[0].encoded)[...]
        if let first = parts.first, first.tag == 0x02 { _ = try Self.node(parts.removeFirst()).number(upTo: 1) }
        guard parts.count >= 3 else { throw CertificateError("a field of TBSCertList is missing") }
        guard try AlgorithmIdentifier(Self.node(parts.removeFirst())) == AlgorithmIdentifier(algorithm) else {
            throw CertificateError("signatureAlgorithm of the CRL differs from the one in TBSCertList")
        }
        issuer = try DistinguishedName(Self.node(parts.removeFirst()))
        thisUpdate = try CertificateTime(Self.node(parts.removeFirst()))
        let hasNext = parts.first.map { CertificateTime.tags.contains($0.tag) } ?? false
        nextUpdate = hasNext ? try CertificateTime(Self.node(parts.removeFirst())) : nil
        entries = parts.first?.tag == 0x30 ? parts.removeFirst().content : []
        var (number, critical): (Int, [ObjectIdentifier]) = (0, [])
        try Self.visit(entries) { entry in
            number += 1
            critical += try entry.criticalExtensions.filter { ![.reasonCode, .invalidityDate].contains($0) }
            return true
        }
        let extensions =
            try parts.popFirst().map { try Self.node($0).explicit(0).members().map(CertificateExtension.init) } ?? []
        let known: [ObjectIdentifier] = [
            .authorityKeyIdentifier, .crlNumber, .issuingDistributionPoint, .deltaCRLIndicator,
        ]
        critical += extensions.filter { $0.isCritical && !known.contains($0.identifier) }.map(\.identifier)
        let point = extensions.first { $0.identifier == .issuingDistributionPoint }
        scope = try point.map { try IssuingDistributionPoint(DER.parse($0.value)) }
        isDelta = extensions.contains { $0.identifier == .deltaCRLIndicator }
        numberDefect = Self.numberDefect(extensions.filter { $0.identifier == .crlNumber })
        guard parts.isEmpty else { throw CertificateError("unexpected field in TBSCertList") }
        (count, unknown) = (number, critical)
    }

    private static func numberDefect(_ extensions: [CertificateExtension]) -> String? {
        guard let number = extensions.first else { return "the CRL has no CRL number" }
        if number.isCritical { return "the CRL number must not be critical" }
        guard extensions.count == 1, let value = try? DER.parse(number.value).integerContent(), let first = value.first,
            first < 0x80
        else {
            return "the CRL number must be a single non-negative INTEGER"
        }
        return nil
    }

    /// Parses a field other than the entries. It is short in every valid CRL.
    private static func node(_ element: DERReader<ArraySlice<UInt8>>.Element) throws -> ASN1Node {
        guard element.encoded.count <= 1 << 16 else {
            throw CertificateError("a field of a CRL is longer than 64 KiB")
        }
        return try DER.parse(element.encoded)
    }

    /// Calls `body` with each entry until it returns false.
    private static func visit(_ entries: ArraySlice<UInt8>, _ body: (RevokedEntry) throws -> Bool) throws {
        try entries.withUnsafeBufferPointer { bytes in
            var reader = DERReader(bytes[...])
            while let element = try reader.next() {
                guard try body(RevokedEntry(element)) else { return }
            }
        }
    }

    /// When the certificate with this serial number was revoked; nil if the CRL does not list it.
    private func revocation(of serialNumber: ArraySlice<UInt8>) -> CertificateTime? {
        var found: CertificateTime?
        // All entries were read before without errors. An entry with a reason that cannot be parsed still counts as a
        // revocation.
        try? Self.visit(entries) { entry in
            guard entry.serialNumber.elementsEqual(serialNumber), !isDelta || !((try? entry.isRemoved) ?? false) else {
                return true
            }
            // An unreadable date does not undo the revocation.
            found = (try? CertificateTime(DER.parse(Array(entry.time)))) ?? thisUpdate
            return false
        }
        return found
    }
}

extension CertificateRevocationList: RevocationEvidence {
    func covers(_ certificate: Certificate, of authority: Certificate) -> Bool { issuer.matches(certificate.issuer) }

    func rejectionReason(about certificate: Certificate, of authority: Certificate, at validationTime: Double)
        -> String?
    {
        guard issuer.matches(certificate.issuer) else { return "the CRL is from another issuer" }
        if let first = unknown.first { return "the extension \(first) of the CRL is critical, but not supported" }
        if let reason = scope?.rejectionReason(for: certificate) { return reason }
        guard authority.extensions.keyUsage?.contains(.crlSign) ?? true else {
            return "the issuer's key may not sign CRLs"
        }
        guard thisUpdate.isNotInFuture(at: validationTime) else { return "the CRL is not valid before \(thisUpdate)" }
        guard validationTime > end else { return nil }
        return "CRL expired (\(nextUpdate.map { "nextUpdate \($0)" } ?? "thisUpdate \(thisUpdate)"))"
    }

    /// The end of validity, in seconds since 1970: nextUpdate, or thisUpdate if there is none.
    private var end: Double { Double((nextUpdate ?? thisUpdate).secondsSince1970) }

    func signedStatus(of certificate: Certificate, issuer authority: Certificate, at validationTime: Double)
        -> RevocationStatus
    {
        guard signature.isSigned(by: authority) else { return .unknown("the CRL is not signed by the issuer") }
        if let time = revocation(of: certificate.serialNumber) { return .revoked(at: time) }
        if isDelta { return .unknown("the CRL is a delta CRL") }
        if scope?.excludes(certificate) == true { return .unknown("the CRL covers only some reasons") }
        if let numberDefect { return .unknown(numberDefect) }
        return .good(until: end)
    }
}
