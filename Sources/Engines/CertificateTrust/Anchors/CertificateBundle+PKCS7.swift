// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

// PKCS #7 files that hold only certificates (RFC 2315, section 9.3): a SignedData without signers.

extension CertificateBundle {
    /// The DER of a PKCS #7 file with these certificates.
    public static func pkcs7(_ certificates: [Certificate]) -> [UInt8] {
        let content = DERElement.of(0x30, DERElement.of(0x06, ObjectIdentifier.pkcs7Data.content))
        let signed = DERElement.of(
            0x30,
            DERElement.of(0x02, [1]) + DERElement.of(0x31, []) + content
                + DERElement.of(0xA0, certificates.flatMap(\.der))
                + DERElement.of(0x31, []))
        return DERElement.of(
            0x30, DERElement.of(0x06, ObjectIdentifier.pkcs7SignedData.content) + DERElement.of(0xA0, signed))
    }

    /// The DER of each certificate in a PKCS #7 file; nil if the bytes are not such a file.
    static func certificates(ofPKCS7 der: [UInt8]) -> [[UInt8]]? {
        // Most inputs are certificates. The first member shows this without parsing them.
        guard startsWithObjectIdentifier(der), let outer = try? DER.parse(der).members(), outer.count == 2,
            (try? ObjectIdentifier(outer[0])) == .pkcs7SignedData,
            let signed = try? outer[1].explicit(0), let members = try? signed.members(), members.count >= 4
        else { return nil }
        guard let list = members.first(where: { $0.isContextSpecific(0) }), case .constructed(let nodes) = list.content
        else { return [] }
        return nodes.map { Array($0.encodedBytes) }
    }

    /// Whether the first member of the outer element is an object identifier, as in PKCS #7.
    private static func startsWithObjectIdentifier(_ der: [UInt8]) -> Bool {
        guard let length = der.dropFirst().first else { return false }
        return der.dropFirst(length < 0x80 ? 2 : 2 + Int(length & 0x7F)).first == 0x06
    }
}

extension ObjectIdentifier {
    fileprivate static let pkcs7Data = Self(1, 2, 840, 113549, 1, 7, 1)
    fileprivate static let pkcs7SignedData = Self(1, 2, 840, 113549, 1, 7, 2)
}
