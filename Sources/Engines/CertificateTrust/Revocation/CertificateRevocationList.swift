// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A list of revoked certificates (RFC 5280, section 5). One that says something critical which is not understood is read and counts for nothing; one
/// of differences to another, or for some reasons alone, tells who is revoked and never who is not,
/// and so does one whose number (RFC 5280, section 5.2.3) is missing or critical: a revocation counts, the absence of one does not.
public final class CertificateRevocationList: Sendable {
    public let issuer: DistinguishedName
    public let thisUpdate: CertificateTime
    /// When the next one is issued; nil where that is not said.
    public let nextUpdate: CertificateTime?
    /// How many certificates are revoked.
    public let count: Int
    /// The revoked certificates as they stand there: lists have them by the hundred thousand, of which one at a time is looked for.
    private let entries: ArraySlice<UInt8>
    private let signature: SignedObject
    private let unknown: [ObjectIdentifier]
    /// Which of its issuer's certificates the list is about; nil for all.
    private let scope: IssuingDistributionPoint?
    /// Whether it tells what has changed since another list alone.
    private let isDelta: Bool
    /// What is wrong with the list's number; nil where nothing is.
    private let numberDefect: String?

    /// The most bytes of a list that is fetched, or found on the disk.
    public static let maxLength = 16 << 20

    /// - Parameter der: one DER `SEQUENCE`, and nothing behind it.
    public convenience init(der: [UInt8]) throws(CertificateError) {
        do {
            try self.init(reading: der)
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("the bytes are no revocation list: \(error)")
        }
    }

    /// Those lists of a file that can be read, and why each other one cannot.
    static func parse(_ bytes: [UInt8]) -> (lists: [CertificateRevocationList], errors: [CertificateError]) {
        let blocks = bytes.first == 0x30 ? [bytes] : PEMText.blocks(in: bytes, labels: labels).map(\.content)
        var (lists, errors): ([CertificateRevocationList], [CertificateError]) = ([], [])
        for block in blocks {
            do throws(CertificateError) {
                guard let block else { throw CertificateError("a block has no end, or its content is no base64") }
                lists.append(try CertificateRevocationList(der: block))
            } catch {
                errors.append(error)
            }
        }
        return (lists, errors)
    }

    private static let labels = ["X509 CRL", "CRL"]

    /// The lists of a file: PEM of any number, or one in DER.
    public static func all(_ bytes: [UInt8]) throws(CertificateError) -> [CertificateRevocationList] {
        let (lists, errors) = parse(bytes)
        if let first = errors.first { throw first }
        guard !lists.isEmpty else { throw CertificateError("there is no revocation list") }
        return lists
    }

    private init(reading der: [UInt8]) throws {
        let members = try DERReader.members(of: der[...])
        guard members.count == 3 else { throw CertificateError("a revocation list has \(members.count) parts, not 3") }
        let algorithm = try Self.node(members[1])
        signature = try SignedObject(of: members[0].encoded, algorithm, Self.node(members[2]))
        var parts = try DERReader.members(of: members[0].encoded)[...]
        if let first = parts.first, first.tag == 0x02 { _ = try Self.node(parts.removeFirst()).number(upTo: 1) }
        guard parts.count >= 3 else { throw CertificateError("a revocation list lacks a part") }
        guard try AlgorithmIdentifier(Self.node(parts.removeFirst())) == AlgorithmIdentifier(algorithm) else {
            throw CertificateError("the signature's algorithm is another one inside than outside")
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
        guard parts.isEmpty else { throw CertificateError("a revocation list has a part that none has") }
        (count, unknown) = (number, critical)
    }

    private static func numberDefect(_ extensions: [CertificateExtension]) -> String? {
        guard let number = extensions.first else { return "the list has no number" }
        if number.isCritical { return "the number of the list is critical, and must not be" }
        guard extensions.count == 1, let value = try? DER.parse(number.value).integerContent(), let first = value.first,
            first < 0x80
        else {
            return "the number of the list is not one number of at least 0"
        }
        return nil
    }

    /// A part of the list, which is short in any list, as a tree.
    private static func node(_ element: DERReader<ArraySlice<UInt8>>.Element) throws -> ASN1Node {
        guard element.encoded.count <= 1 << 16 else {
            throw CertificateError("a part of a revocation list is longer than it can be")
        }
        return try DER.parse(element.encoded)
    }

    /// Shows the entries until one answers false.
    private static func visit(_ entries: ArraySlice<UInt8>, _ body: (RevokedEntry) throws -> Bool) throws {
        try entries.withUnsafeBufferPointer { bytes in
            var reader = DERReader(bytes[...])
            while let element = try reader.next() {
                guard try body(RevokedEntry(element)) else { return }
            }
        }
    }

    /// When the certificate of this number was revoked; nil where it was not.
    private func revocation(of serialNumber: ArraySlice<UInt8>) -> CertificateTime? {
        var found: CertificateTime?
        // All of them were read before; a reason that cannot be read is one all the same.
        try? Self.visit(entries) { entry in
            guard entry.serialNumber.elementsEqual(serialNumber), !isDelta || !((try? entry.isRemoved) ?? false) else {
                return true
            }
            // Whenever it was, it is revoked.
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
        guard issuer.matches(certificate.issuer) else { return "the list is another issuer's" }
        if let first = unknown.first { return "the extension \(first) of the list is critical, and not understood" }
        if let reason = scope?.rejectionReason(for: certificate) { return reason }
        guard authority.extensions.keyUsage?.contains(.crlSign) ?? true else { return "the issuer may not sign lists" }
        guard thisUpdate.isNotInFuture(at: validationTime) else { return "the list is of \(thisUpdate)" }
        return validationTime <= end ? nil : "a newer list than that of \(thisUpdate) is to be had"
    }

    /// A list that promises no other is over at once.
    private var end: Double { Double((nextUpdate ?? thisUpdate).secondsSince1970) }

    func signedStatus(of certificate: Certificate, issuer authority: Certificate, at validationTime: Double)
        -> RevocationStatus
    {
        guard signature.isSigned(by: authority) else { return .unknown("the list is not signed by the issuer") }
        if let time = revocation(of: certificate.serialNumber) { return .revoked(at: time) }
        if isDelta { return .unknown("the list tells of changes alone") }
        if scope?.excludes(certificate) == true { return .unknown("the list is for some reasons alone") }
        if let numberDefect { return .unknown(numberDefect) }
        return .good(until: end)
    }
}
