// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

extension AsyncKeychain {
    /// Generates a signing key on an elliptic curve in the keychain.
    public func generate<Curve: KeyCurve>(
        _ type: SigningKey<Curve>.Type, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil
    ) async throws(KeychainError) -> SigningKey<Curve> {
        try await keychain.perform { keychain throws(KeychainError) in
            try keychain.generate(
                type, tag: tag, label: label, isExtractable: isExtractable, protection: protection,
                accessControl: accessControl)
        }
    }

    /// Generates a key on an elliptic curve in the keychain, for key agreement and decryption.
    public func generate<Curve: KeyCurve>(
        _ type: AgreementKey<Curve>.Type, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil
    ) async throws(KeychainError) -> AgreementKey<Curve> {
        try await keychain.perform { keychain throws(KeychainError) in
            try keychain.generate(
                type, tag: tag, label: label, isExtractable: isExtractable, protection: protection,
                accessControl: accessControl)
        }
    }

    /// Generates an RSA key in the keychain, of 512 to 8192 bits in steps of 8.
    public func generate(
        _ type: RSAPrivateKey.Type, bits: Int = 3072, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil
    ) async throws(KeychainError) -> RSAPrivateKey {
        try await keychain.perform { keychain throws(KeychainError) in
            try keychain.generate(
                type, bits: bits, tag: tag, label: label, isExtractable: isExtractable, protection: protection,
                accessControl: accessControl)
        }
    }

    /// Stores a key that is in memory, as
    /// ``Keychain/add(_:tag:label:isExtractable:protection:accessControl:)`` does.
    public func add(
        _ key: some KeychainKey, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil
    ) async throws(KeychainError) {
        try await keychain.perform { keychain throws(KeychainError) in
            try keychain.add(
                key, tag: tag, label: label, isExtractable: isExtractable, protection: protection,
                accessControl: accessControl)
        }
    }

    /// Returns the key with this tag, as ``Keychain/key(_:tag:)`` does.
    public func key<Key: KeychainKey>(_ type: Key.Type, tag: String) async throws(KeychainError) -> Key {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.key(type, tag: tag) }
    }

    /// Deletes every private key with this tag.
    ///
    /// - Throws: `KeychainError.itemNotFound`.
    public func deleteKey(tag: String) async throws(KeychainError) {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.deleteKey(tag: tag) }
    }
}
