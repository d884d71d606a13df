// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
public import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

extension Keychain {
    /// Generates a signing key on an elliptic curve in the keychain.
    ///
    /// - Parameters:
    ///   - type: the type of the key, such as ``P256SigningKey``.
    ///   - tag: the name of the key for ``key(_:tag:)``.
    ///   - label: the name shown to the user; nil for the tag.
    ///   - isExtractable: false keeps the key's bytes in the keychain permanently.
    ///   - protection: when the key can be used; nil for the default class.
    ///   - accessControl: the authentication that each use of the key requires of the person; nil for nothing.
    ///   - inSecureEnclave: creates the key in the TPM, for ``P256SigningKey`` and ``P256AgreementKey``. The TPM never
    ///     reveals the key. It is lost if the TPM is cleared or replaced.
    /// - Throws: `errSecUnimplemented` if there is no Secure Enclave; never `KeychainError.duplicateItem`:
    ///   two keys differ in their public halves, so several keys can have the same tag.
    public func generate<Curve: KeyCurve>(
        _ type: SigningKey<Curve>.Type, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil, inSecureEnclave: Bool = false
    ) throws(KeychainError) -> SigningKey<Curve> {
        try SigningKey(
            generate(
                KeyKind(.ellipticCurve, bits: Curve.bits), item(tag, label, protection, accessControl),
                isExtractable && !inSecureEnclave, inSecureEnclave: inSecureEnclave))
    }

    /// Generates a key on an elliptic curve in the keychain, for key agreement and decryption.
    public func generate<Curve: KeyCurve>(
        _ type: AgreementKey<Curve>.Type, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil, inSecureEnclave: Bool = false
    ) throws(KeychainError) -> AgreementKey<Curve> {
        try AgreementKey(
            generate(
                KeyKind(.ellipticCurve, bits: Curve.bits), item(tag, label, protection, accessControl),
                isExtractable && !inSecureEnclave, inSecureEnclave: inSecureEnclave))
    }

    /// Generates an RSA key in the keychain, of 512 to 8192 bits in steps of 8. A key below 2048
    /// bits is weak: the program's logger gets a warning.
    public func generate(
        _ type: RSAPrivateKey.Type, bits: Int = 3072, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil
    ) throws(KeychainError) -> RSAPrivateKey {
        let kind = KeyKind(.rsa, bits: bits)
        if kind.canBeGenerated, kind.isWeak { ProgramLog.current.warn(.weakKey(kind)) }
        return try RSAPrivateKey(generate(kind, item(tag, label, protection, accessControl), isExtractable))
    }

    private func generate(
        _ kind: KeyKind, _ item: ItemAddition, _ isExtractable: Bool, inSecureEnclave: Bool = false
    ) throws(KeychainError) -> KeyHandle {
        var half = item
        if inSecureEnclave { half.attributes[.tokenIdentifier] = .string(EnclaveKind.requested) }
        half.authentication = try authentication.values()
        if !isExtractable { half.attributes[.isExtractable] = .number(0) }
        let made = try open().generateKey(KeyGeneration(kind, privateHalf: half))
        let info = PublicKeyInfo(kind, half: .privateKey, publicKey: made.publicKey)
        return KeyHandle(stored(made.privateHalf.persistentReference, try .of(info)))
    }

    /// Stores a key that is in memory. The given value remains in memory; ``key(_:tag:)`` returns
    /// the key in the keychain.
    ///
    /// - Throws: `KeychainError.duplicateItem` if the same key already has this tag.
    public func add(
        _ key: some KeychainKey, tag: String, label: String? = nil, isExtractable: Bool = true,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil
    ) throws(KeychainError) {
        var half = item(tag, label, protection, accessControl)
        half.authentication = try authentication.values()
        let standard = try KeyAttributes.standard(try key.handle.publicKey(), .privateKey)
        half.attributes.merge(standard) { given, _ in given }
        if !isExtractable { half.attributes[.isExtractable] = .number(0) }
        half.secrets = ItemSecrets(data: try key.externalRepresentation())
        _ = try open().add(half)
    }

    /// Returns the key with this tag. The key remains in the keychain. Its uses satisfy its access
    /// control as the calls of this keychain do.
    ///
    /// - Throws: `KeychainError.itemNotFound`; `errSecParam` if the tag names a key of another
    ///   type, or several keys.
    public func key<Key: KeychainKey>(_ type: Key.Type, tag: String) throws(KeychainError) -> Key {
        let keychain = try open()
        let found = try keychain.copyMatching(
            query(tag, limit: .all, try authentication.values()), returning: .attributes
        ).records
        guard let first = found.first else { throw .itemNotFound }
        guard found.count == 1 else { throw KeychainError(.param, "the tag must name one key, found \(found.count)") }
        let info = try keychain.publicKey(of: first.persistentReference)
        return try Key(KeyHandle(stored(first.persistentReference, .of(info))))
    }

    /// Deletes every private key with this tag.
    ///
    /// - Throws: `KeychainError.itemNotFound`.
    public func deleteKey(tag: String) throws(KeychainError) {
        guard try open().delete(query(tag, limit: nil, Authentication())) > 0 else { throw .itemNotFound }
    }

    private func stored(_ reference: PersistentReference, _ publicKey: PublicKey) -> StoredKey {
        StoredKey(
            reference, publicKey: publicKey,
            authentication: { [authentication] () throws(KeychainError) in try authentication.values() }, in: open)
    }

    private func query(_ tag: String, limit: MatchLimit?, _ authentication: Authentication) -> ItemQuery {
        ItemQuery(
            .key,
            attributes: [.applicationTag: .data(Array(tag.utf8)), .keyClass: .number(KeyHalf.privateKey.rawValue)],
            accessGroup: accessGroup, synchronizable: .any, limit: limit, authentication: authentication)
    }

    private func item(
        _ tag: String, _ label: String?, _ protection: ProtectionClass?, _ accessControl: AccessControl?
    ) -> ItemAddition {
        ItemAddition(
            .key, attributes: [.applicationTag: .data(Array(tag.utf8)), .label: .string(label ?? tag)],
            accessGroup: accessGroup, protection: protection ?? accessControl.map { _ in .whenUnlocked },
            accessControlFlags: accessControl?.ofPrivateKey.flags)
    }
}
