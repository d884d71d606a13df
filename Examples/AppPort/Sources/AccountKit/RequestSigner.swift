// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Signs the app's requests with a key of this device, generated at first use.
public struct RequestSigner: Sendable {
    public enum Failure: Error {
        case status(OSStatus)
        case key((any Error)?)
    }

    private let tag: Data

    public init(tag: String = "com.example.account.device") {
        self.tag = Data(tag.utf8)
    }

    /// Returns a signature of ECDSA with SHA-256, in DER.
    public func signature(of request: Data) throws -> Data {
        var error: Unmanaged<CFError>?
        let signature = SecKeyCreateSignature(
            try privateKey(), .ecdsaSignatureMessageX962SHA256, request as CFData, &error)
        guard let signature else { throw Self.failure(error) }
        return signature as Data
    }

    /// Returns the public key for the server: the uncompressed point of P-256, 65 bytes.
    public func publicKey() throws -> Data {
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCopyPublicKey(try privateKey()),
            let point = SecKeyCopyExternalRepresentation(key, &error)
        else { throw Self.failure(error) }
        return point as Data
    }

    /// Whether a signature is one of the key, as the server verifies it.
    public static func isValid(_ signature: Data, of request: Data, by publicKey: Data) -> Bool {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
        ]
        guard let key = SecKeyCreateWithData(publicKey as CFData, attributes as CFDictionary, nil) else { return false }
        return SecKeyVerifySignature(
            key, .ecdsaSignatureMessageX962SHA256, request as CFData, signature as CFData, nil)
    }

    // MARK: The key

    private func privateKey() throws -> SecKey {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey,
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag as String: tag,
            kSecReturnRef as String: true,
        ]
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecSuccess, let key = result as? SecKey { return key }
        guard status == errSecItemNotFound else { throw Failure.status(status) }
        return try newKey()
    }

    /// A key in the Secure Enclave, or, on devices without one, in the keychain.
    private func newKey() throws -> SecKey {
        if let key = SecKeyCreateRandomKey(attributes(inEnclave: true) as CFDictionary, nil) { return key }
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(attributes(inEnclave: false) as CFDictionary, &error) else {
            throw Self.failure(error)
        }
        return key
    }

    private func attributes(inEnclave: Bool) -> [String: Any] {
        var half: [String: Any] = [
            kSecAttrIsPermanent as String: true,
            kSecAttrApplicationTag as String: tag,
        ]
        half[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, nil)
        var attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
            kSecPrivateKeyAttrs as String: half,
        ]
        if inEnclave { attributes[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave }
        return attributes
    }

    private static func failure(_ error: Unmanaged<CFError>?) -> Failure {
        .key(error.map { $0.takeRetainedValue() as any Error })
    }
}
