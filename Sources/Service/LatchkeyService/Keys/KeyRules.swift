// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeyServices
internal import SecretMemory

/// The rules for key items: their attributes, and the operations that they permit.
enum KeyRules {
    enum Key {
        case publicKey(PublicKey)
        case privateKey(any PrivateKey)

        /// The public half.
        var publicKey: PublicKey {
            get throws(KeychainError) {
                switch self {
                case .publicKey(let key): key
                case .privateKey(let key): try key.publicKey
                }
            }
        }
    }

    /// Returns the addition of one half of a pair, with its data, and with defaults for the
    /// attributes that the caller did not give.
    static func completed(
        _ half: ItemAddition, _ key: PublicKey, _ which: KeyHalf, data: SharedSecret
    ) throws(KeychainError) -> ItemAddition {
        guard half.itemClass == .key else { throw .parameter("each half of a key pair must be a key item") }
        var addition = half
        addition.attributes.merge(try KeyAttributes.standard(key, which)) { given, _ in given }
        // The class, type and sizes of the key follow from the key itself; the caller cannot set
        // them.
        for attribute in [ItemAttribute.keyClass, .type, .keySizeInBits, .effectiveKeySize] {
            addition.attributes[attribute] = try KeyAttributes.standard(key, which)[attribute]
        }
        // The public half is not secret.
        if which == .publicKey { addition.attributes[.isExtractable] = .number(1) }
        if half.attributes[.wasNeverExtractable] == nil, addition.attributes[.isExtractable] == .number(0) {
            addition.attributes[.wasNeverExtractable] = .number(1)
        }
        addition.secrets = ItemSecrets(data: data)
        return addition
    }

    /// Sets the application label of an item that is added with the bytes of a key, unless the
    /// caller gave one.
    static func complete(_ record: inout ItemRecord) {
        guard record.itemClass == .key, record.attributes[.applicationLabel] == nil else { return }
        guard case .number? = record.attributes[.type], case .number? = record.attributes[.keyClass] else { return }
        let label = try? withKey(of: record) { (key) throws(KeychainError) in
            try key.publicKey.applicationLabel()
        }
        if let label { record.attributes[.applicationLabel] = .data(label) }
    }

    /// Keeps the public half of a private key beside it if the key itself cannot be read without the
    /// person. That of a key in an enclave is always there.
    static func rememberPublicKey(of record: inout ItemRecord) {
        guard !record.isTokenKey else { return }
        record.publicKey = nil
        guard record.itemClass == .key, record.accessControlFlags?.hasConstraints == true else { return }
        let external = try? withKey(of: record) { (key) throws(KeychainError) -> [UInt8]? in
            guard case .privateKey(let key) = key else { return nil }
            return try key.publicKey.external
        }
        if let external { record.publicKey = external }
    }

    /// Returns the public half that ``rememberPublicKey(of:)`` kept; nil if there is none.
    static func rememberedPublicKey(of record: ItemRecord) throws(KeychainError) -> PublicKeyInfo? {
        guard let bytes = record.publicKey,
            case .number(let number)? = record.attributes[.type], let type = KeyType(rawValue: number)
        else { return nil }
        let key = try SharedSecret(copying: bytes).withUnsafeBytes { (bytes) throws(KeychainError) in
            try PublicKey(imported: bytes, type: type)
        }
        return PublicKeyInfo(key.kind, half: .privateKey, publicKey: key.external)
    }

    /// Calls `body` with the key that an item holds.
    ///
    /// - Parameters:
    ///   - cache: a cache for private keys; nil for a key that is used only once.
    ///   - enclave: returns the enclave that holds a key.
    /// - Throws: errSecUnimplemented for an unsupported key type; errSecDecode if the bytes are not
    ///   a key of the item's type.
    static func withKey<Result>(
        of item: ItemRecord, from cache: KeyCache? = nil,
        in enclave: EnclaveChoice = { (_) throws(KeychainError) in throw noEnclave },
        _ body: (Key) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard let data = item.secrets?.data else { throw KeychainError(.decode, "the item holds no key") }
        if item.isTokenKey {
            let record = try EnclaveKeyRecord(decoding: data)
            return try body(.privateKey(try EnclaveKey(record, in: try enclave(record.kind))))
        }
        guard case .number(let number)? = item.attributes[.type], let type = KeyType(rawValue: number) else {
            throw KeychainError(.unimplemented, "keys of this type can be stored, but not used")
        }
        guard case .number(let half)? = item.attributes[.keyClass], let half = KeyHalf(rawValue: half) else {
            throw KeychainError(.unimplemented, "only public and private keys can be used")
        }
        let key: Key
        do throws(KeychainError) {
            switch half {
            case .publicKey:
                key = .publicKey(
                    try data.withUnsafeBytes { (bytes) throws(KeychainError) in
                        try PublicKey(imported: bytes, type: type)
                    })
            case .privateKey:
                let make = { () throws(KeychainError) -> SoftwareKey in
                    try data.withUnsafeBytes { (bytes) throws(KeychainError) in
                        try SoftwareKey(external: bytes, type: type)
                    }
                }
                if let cache {
                    key = .privateKey(try cache.key(of: item.identifier, data, make))
                } else {
                    key = .privateKey(try make())
                }
            }
        } catch {
            throw KeychainError(.decode, "the item holds no key: \(error.problem)")
        }
        return try body(key)
    }

    /// Rejects a key with a token identifier (`kSecAttrTokenID`): its bytes would be stored in the
    /// database and could be read back like those of any other key.
    static func refuseToken(_ record: ItemRecord) throws(KeychainError) {
        guard record.itemClass == .key, let token = record[.tokenIdentifier], !token.canonicalBytes.isEmpty else {
            return
        }
        throw KeychainError(
            .unimplemented, "a key cannot be imported to a token or a Secure Enclave, so it was not stored",
            hint: "generate the key there, or omit kSecAttrTokenID to store it in the keychain")
    }

    // MARK: Secure Enclave

    /// Returns the enclave of a kind.
    ///
    /// - Throws: if this keychain has none.
    typealias EnclaveChoice = (EnclaveKind) throws(KeychainError) -> any SecureEnclave

    static let noEnclave = KeychainError(
        .unimplemented, "there is no Secure Enclave to hold the key",
        hint: "it needs a TPM 2.0: latchkey status; omit kSecAttrTokenID to keep the key in the keychain")

    /// Throws if the attributes of a new private half do not fit a key in an enclave
    /// (keychain-behaviour §6.6).
    static func checkEnclaveKey(_ generation: KeyGeneration) throws(KeychainError) {
        let half = generation.privateHalf
        guard half.attributes[.tokenIdentifier] == .string(EnclaveKind.requested) else {
            throw KeychainError(
                .unimplemented, "the only supported token is the Secure Enclave",
                hint: "kSecAttrTokenID must be kSecAttrTokenIDSecureEnclave")
        }
        guard generation.kind == EnclaveKey.kind else {
            throw .parameter("a key in a Secure Enclave must be \(EnclaveKey.kind), found \(generation.kind)")
        }
        guard !half.isSynchronizable else { throw .parameter("a key in a Secure Enclave cannot be synchronizable") }
        guard half.accessControlFlags?.contains(.privateKeyUsage) != false else {
            throw .parameter("the access control of a key in a Secure Enclave must include privateKeyUsage")
        }
        for attribute in [ItemAttribute.isExtractable, .isSensitive] {
            let expected = AttributeValue.number(attribute == .isSensitive ? 1 : 0)
            guard half.attributes[attribute] ?? expected == expected else {
                throw .parameter("a key in a Secure Enclave is sensitive, and not extractable")
            }
        }
    }

    /// The attributes that every key in an enclave has.
    static func enclaveAttributes(_ kind: EnclaveKind) -> [ItemAttribute: AttributeValue] {
        [
            .tokenIdentifier: .string(kind.rawValue), .isExtractable: .number(0), .wasNeverExtractable: .number(1),
            .isSensitive: .number(1), .wasAlwaysSensitive: .number(1),
        ]
    }

    /// Throws if an update would change a property that only the enclave decides.
    static func checkTokenKey(_ changed: ItemRecord, was record: ItemRecord, _ update: ItemUpdate) throws(KeychainError)
    {
        guard record.isTokenKey else { return }
        let fixed: [ItemAttribute] = [
            .tokenIdentifier, .keyClass, .type, .keySizeInBits, .effectiveKeySize, .isExtractable, .isSensitive,
            .isPermanent,
        ]
        guard update.data == nil, !changed.isSynchronizable, fixed.allSatisfy({ changed[$0] == record[$0] }) else {
            throw .parameter("the bytes, the kind and the token of a key in a Secure Enclave cannot be changed")
        }
        guard changed.accessControlFlags?.contains(.privateKeyUsage) != false else {
            throw .parameter("the access control of a key in a Secure Enclave must include privateKeyUsage")
        }
    }

    // MARK: Rights by attributes

    static let notExtractable = KeychainError(
        .unimplemented, "the key is not extractable: it can be used, but not exported",
        hint: "it was created with kSecAttrIsExtractable = false; create an extractable key to get its bytes")

    /// Removes the data of non-extractable keys from records that a caller receives.
    ///
    /// - Throws: errSecUnimplemented if only data was requested, and no record may return it.
    static func removeProtectedData(from records: inout [ItemRecord], _ returning: ReturnTypes) throws(KeychainError) {
        guard returning.contains(.data) else { return }
        for index in records.indices where !records[index].isExtractable { records[index].secrets = nil }
        if returning == .data, !records.isEmpty, records.allSatisfy({ !$0.isExtractable }) { throw notExtractable }
    }

    static func requirePermission(for use: PrivateKeyUse, of item: ItemRecord) throws(KeychainError) {
        for operation in use.operations where isForbidden(KeyAttributes.permission(for: operation), of: item) {
            throw KeychainError(.keyUsageIncorrect, "the key's attributes do not permit the operation '\(operation)'")
        }
    }

    private static func isForbidden(_ attribute: ItemAttribute, of item: ItemRecord) -> Bool {
        switch item.attributes[attribute] {
        case nil: false
        case .number(let flag)?: flag == 0
        default: true
        }
    }

    /// Throws if a change would make a non-extractable key readable.
    static func check(_ changed: ItemRecord, was record: ItemRecord) throws(KeychainError) {
        guard record.itemClass == .key, !record.isExtractable else { return }
        guard !changed.isExtractable, changed.attributes[.keyClass] == record.attributes[.keyClass] else {
            throw KeychainError(.param, "a non-extractable key must stay so, and keep its kSecAttrKeyClass")
        }
    }
}
