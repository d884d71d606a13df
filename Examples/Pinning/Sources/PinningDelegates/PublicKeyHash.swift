// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Foundation
import Security

/// The digest that a pin names: SHA-256 of the SubjectPublicKeyInfo.
public enum PublicKeyHash {
    /// The digest in base64; nil for a kind of key without a header in the table.
    public static func sha256(of key: SecKey) -> String? {
        guard let attributes = SecKeyCopyAttributes(key) as? [CFString: Any],
            let type = attributes[kSecAttrKeyType] as? String, let size = attributes[kSecAttrKeySizeInBits] as? Int,
            let header = headers[Kind(type: type, size: size)],
            let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?
        else { return nil }
        let info = Data(header) + bytes
        var digest = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
        info.withUnsafeBytes { _ = CC_SHA256($0.baseAddress, CC_LONG($0.count), &digest) }
        return Data(digest).base64EncodedString()
    }

    /// The digest of a certificate's public key.
    public static func sha256(of certificate: SecCertificate) -> String? {
        SecCertificateCopyKey(certificate).flatMap { sha256(of: $0) }
    }

    private struct Kind: Hashable {
        let type: String
        let size: Int
    }

    /// The bytes before those of SecKeyCopyExternalRepresentation in the SubjectPublicKeyInfo (RFC 5280, section
    /// 4.1.2.7): the length, the algorithm and the head of the bit string.
    private static let headers: [Kind: [UInt8]] = [
        Kind(type: kSecAttrKeyTypeECSECPrimeRandom as String, size: 256): [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ],
        Kind(type: kSecAttrKeyTypeECSECPrimeRandom as String, size: 384): [
            0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04,
            0x00, 0x22, 0x03, 0x62, 0x00,
        ],
        Kind(type: kSecAttrKeyTypeRSA as String, size: 2048): rsaHeader(length: 0x0122, bits: 0x010F),
        Kind(type: kSecAttrKeyTypeRSA as String, size: 3072): rsaHeader(length: 0x01A2, bits: 0x018F),
        Kind(type: kSecAttrKeyTypeRSA as String, size: 4096): rsaHeader(length: 0x0222, bits: 0x020F),
    ]

    private static func rsaHeader(length: UInt16, bits: UInt16) -> [UInt8] {
        [0x30, 0x82, UInt8(length >> 8), UInt8(length & 0xFF)]
            + [0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
            + [0x03, 0x82, UInt8(bits >> 8), UInt8(bits & 0xFF), 0x00]
    }
}
