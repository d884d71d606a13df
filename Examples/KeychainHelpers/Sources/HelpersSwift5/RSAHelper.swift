// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A pair of RSA keys that lives in the keychain: made when it is first needed, found again by its tag.
public final class RSAHelper {
    public enum Failure: Error {
        case keychain(OSStatus)
        case key(Error)
        case unsupported
    }

    private let tag: Data
    private let algorithm: SecKeyAlgorithm

    public init(tag: String, algorithm: SecKeyAlgorithm = .rsaEncryptionOAEPSHA256) {
        self.tag = Data(tag.utf8)
        self.algorithm = algorithm
    }

    // MARK: Keys

    /// The private key; a new pair where there is none.
    public func privateKey() throws -> SecKey {
        if let existing = try storedKey() { return existing }
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeRSA,
            kSecAttrKeySizeInBits as String: 2048,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: tag,
            ],
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw Failure.key(error!.takeRetainedValue() as Error)
        }
        return key
    }

    public func publicKey() throws -> SecKey {
        guard let key = SecKeyCopyPublicKey(try privateKey()) else { throw Failure.unsupported }
        return key
    }

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassKey,
            kSecAttrApplicationTag as String: tag,
            kSecAttrKeyType as String: kSecAttrKeyTypeRSA,
        ]
    }

    private func storedKey() throws -> SecKey? {
        var item: CFTypeRef?
        var query = query
        query[kSecReturnRef as String] = true
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        switch status {
        case errSecSuccess: return item as? SecKey
        case errSecItemNotFound: return nil
        default: throw Failure.keychain(status)
        }
    }

    public func deleteKeys() throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure.keychain(status) }
    }

    // MARK: Use

    public func encrypt(_ plaintext: Data) throws -> Data {
        let key = try publicKey()
        guard SecKeyIsAlgorithmSupported(key, .encrypt, algorithm) else { throw Failure.unsupported }
        var error: Unmanaged<CFError>?
        guard let ciphertext = SecKeyCreateEncryptedData(key, algorithm, plaintext as CFData, &error) else {
            throw Failure.key(error!.takeRetainedValue() as Error)
        }
        return ciphertext as Data
    }

    public func decrypt(_ ciphertext: Data) throws -> Data {
        let key = try privateKey()
        guard SecKeyIsAlgorithmSupported(key, .decrypt, algorithm) else { throw Failure.unsupported }
        var error: Unmanaged<CFError>?
        guard let plaintext = SecKeyCreateDecryptedData(key, algorithm, ciphertext as CFData, &error) else {
            throw Failure.key(error!.takeRetainedValue() as Error)
        }
        return plaintext as Data
    }

    public func sign(_ message: Data, _ algorithm: SecKeyAlgorithm = .rsaSignatureMessagePKCS1v15SHA256) throws -> Data
    {
        var error: Unmanaged<CFError>?
        guard let signature = SecKeyCreateSignature(try privateKey(), algorithm, message as CFData, &error) else {
            throw Failure.key(error!.takeRetainedValue() as Error)
        }
        return signature as Data
    }

    public func verify(
        _ signature: Data, of message: Data, _ algorithm: SecKeyAlgorithm = .rsaSignatureMessagePKCS1v15SHA256
    ) throws -> Bool {
        SecKeyVerifySignature(try publicKey(), algorithm, message as CFData, signature as CFData, nil)
    }

    /// The public key as others take it: PKCS #1 in DER.
    public func exportedPublicKey() throws -> Data {
        var error: Unmanaged<CFError>?
        guard let data = SecKeyCopyExternalRepresentation(try publicKey(), &error) else {
            throw Failure.key(error!.takeRetainedValue() as Error)
        }
        return data as Data
    }
}
