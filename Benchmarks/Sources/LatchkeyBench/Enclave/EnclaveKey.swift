// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySecurity

/// A key of the Secure Enclave through `import Security` and latchkeyd.
struct EnclaveKey {
    private let key: SecKey
    private let publicKey: SecKey
    private let digest = NSData(data: Data(repeating: 0x5A, count: 32))

    init() throws {
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: Data("bench".utf8),
            ] as [String: Any],
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as NSDictionary, &error),
            let publicKey = SecKeyCopyPublicKey(key)
        else {
            throw BenchmarkFailure(
                "cannot generate a key in the TPM: \(error.map { "\($0.takeRetainedValue())" } ?? "")")
        }
        (self.key, self.publicKey) = (key, publicKey)
    }

    func run(_ operation: EnclaveOperation) throws {
        let result =
            switch operation {
            case .sign: SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, digest, nil)
            case .agree: SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, publicKey, NSDictionary(), nil)
            }
        guard result != nil else { throw BenchmarkFailure("the TPM's key cannot \(operation)") }
    }

}
