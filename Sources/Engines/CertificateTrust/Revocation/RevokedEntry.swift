// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// An encoded CRL entry, for one revoked certificate (RFC 5280, section 5.1.2.6).
struct RevokedEntry {
    typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    let serialNumber: Bytes
    let time: Bytes
    private let extensions: Bytes?

    init(_ element: DERReader<Bytes>.Element) throws(CertificateError) {
        var fields = DERReader(element.content)
        guard element.tag == 0x30, let number = try fields.next(), number.tag == 0x02, let time = try fields.next(),
            CertificateTime.tags.contains(time.tag)
        else { throw CertificateError("an entry of a CRL must have a serial number and a time") }
        serialNumber = number.content
        // A serial number in any other form would not be found.
        guard DERElement.isInteger(serialNumber) else {
            throw CertificateError("a serial number in a CRL is not minimally encoded")
        }
        self.time = time.encoded
        extensions = try fields.next()?.encoded
        guard try fields.next() == nil else {
            throw CertificateError("unexpected field in an entry of a CRL")
        }
    }

    /// Whether a delta CRL removes the revocation (reason 8, removeFromCRL).
    var isRemoved: Bool {
        get throws {
            let own = try extensions.map { try DER.parse(Array($0)).members().map(CertificateExtension.init) } ?? []
            guard let reason = own.first(where: { $0.identifier == .reasonCode }) else { return false }
            return try DER.parse(reason.value).primitiveContent?.elementsEqual([8]) ?? false
        }
    }

    var criticalExtensions: [ObjectIdentifier] {
        get throws {
            guard let extensions else { return [] }
            return try DERReader.members(of: extensions).compactMap { element in
                let members = try DERReader.members(of: element.encoded)
                guard members.count == 3 else {
                    guard members.count == 2 else {
                        throw CertificateError("an extension must have 2 or 3 fields, found \(members.count)")
                    }
                    return nil
                }
                return try CertificateExtension(DER.parse(Array(element.encoded))).identifier
            }
        }
    }
}
