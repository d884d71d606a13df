// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The algorithms of RFC 7518, section 3.1, that are supported.
public enum TokenAlgorithm: String, CaseIterable {
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// RSA with PKCS #1 v1.5 and SHA-256.
    case rs256 = "RS256"
    /// RSA with PSS and SHA-256.
    case ps256 = "PS256"

    var keyType: CFString {
        self == .es256 ? kSecAttrKeyTypeECSECPrimeRandom : kSecAttrKeyTypeRSA
    }

    var keySize: Int {
        self == .es256 ? 256 : 2048
    }

    var signature: SecKeyAlgorithm {
        switch self {
        case .es256: return .ecdsaSignatureMessageX962SHA256
        case .rs256: return .rsaSignatureMessagePKCS1v15SHA256
        case .ps256: return .rsaSignatureMessagePSSSHA256
        }
    }

    /// Reads a key of this algorithm.
    func key(_ data: Data, _ keyClass: CFString) throws -> SecKey {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: keyType,
            kSecAttrKeyClass as String: keyClass,
            kSecAttrKeySizeInBits as String: keySize,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateWithData(data as CFData, attributes as CFDictionary, &error) else {
            throw TokenError.key(error?.takeRetainedValue())
        }
        return key
    }

    // MARK: Forms of a signature

    // Keys make ECDSA signatures in DER; tokens have both numbers one after the other, in 32 bytes each (RFC 7518,
    // section 3.4).

    func tokenForm(ofSignature signature: Data) throws -> Data {
        self == .es256 ? try ECDSASignature(der: signature).fixedLength : signature
    }

    func keyForm(ofSignature signature: Data) throws -> Data {
        self == .es256 ? try ECDSASignature(fixedLength: signature).der : signature
    }
}
