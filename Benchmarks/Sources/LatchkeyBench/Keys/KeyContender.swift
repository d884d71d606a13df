// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySecurity

/// The same operations through `import Security`.
final class KeyContender {
    private let key: SecKey
    private let publicKey: SecKey
    private let kind: KeyBenchKind
    private var signature = NSData()
    private var cipher = NSData()

    /// - Parameter tag: if given, the key is stored and used in the keychain.
    init(_ kind: KeyBenchKind, tag: String? = nil) throws {
        self.kind = kind
        key = try Self.generate(kind, tag: tag)
        guard let half = SecKeyCopyPublicKey(key) else { throw BenchmarkFailure("the key has no public key") }
        publicKey = half
    }

    @discardableResult
    static func generate(_ kind: KeyBenchKind, tag: String? = nil) throws -> SecKey {
        var parameters: [String: Any] = [
            kSecAttrKeyType as String: kind.isCurve ? kSecAttrKeyTypeECSECPrimeRandom : kSecAttrKeyTypeRSA,
            kSecAttrKeySizeInBits as String: kind.bits,
        ]
        if let tag {
            parameters[kSecPrivateKeyAttrs as String] =
                [kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: Data(tag.utf8)] as [String: Any]
        }
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as NSDictionary, &error) else {
            throw BenchmarkFailure("cannot generate a key")
        }
        return key
    }

    func delete() {
        SecItemDelete([kSecValueRef as String: key] as NSDictionary)
    }

    func run(_ operation: KeyBenchOperation, _ message: NSData, _ other: KeyContender) throws {
        switch operation {
        case .sign:
            signature = try result(SecKeyCreateSignature(key, signing, message, nil))
        case .verify:
            guard SecKeyVerifySignature(publicKey, signing, message, signature, nil) else {
                throw BenchmarkFailure("the signature is not valid")
            }
        case .encrypt: cipher = try result(SecKeyCreateEncryptedData(publicKey, encryption, message, nil))
        case .decrypt: _ = try result(SecKeyCreateDecryptedData(key, encryption, cipher, nil))
        case .agree:
            _ = try result(
                SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, other.publicKey, NSDictionary(), nil))
        case .generate: break
        }
    }

    private var signing: SecKeyAlgorithm {
        kind.isCurve ? .ecdsaSignatureMessageX962SHA256 : .rsaSignatureMessagePKCS1v15SHA256
    }
    private var encryption: SecKeyAlgorithm {
        kind.isCurve ? .eciesEncryptionStandardVariableIVX963SHA256AESGCM : .rsaEncryptionOAEPSHA256
    }

    private func result(_ data: CFData?) throws -> NSData {
        guard let data else { throw BenchmarkFailure("an operation failed") }
        return data
    }
}
