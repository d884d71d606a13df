// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeyServices
internal import SecretMemory

/// What items that are keys must be like, and may be used for.
enum KeyRules {
    enum Key {
        case publicKey(PublicKey)
        case privateKey(SoftwareKey)
    }

    /// The addition of one half of a pair, with the attributes that its maker has not given, and its data.
    static func completed(
        _ half: ItemAddition, _ key: PublicKey, _ which: KeyHalf, data: SharedSecret
    ) throws(KeychainError) -> ItemAddition {
        guard half.itemClass == .key else { throw .parameter("the half of a pair is an item of the class of keys") }
        var addition = half
        addition.attributes.merge(try KeyAttributes.standard(key, which)) { given, _ in given }
        // Which half it is, of what kind and size, is not the maker's to say.
        for attribute in [ItemAttribute.keyClass, .type, .keySizeInBits, .effectiveKeySize] {
            addition.attributes[attribute] = try KeyAttributes.standard(key, which)[attribute]
        }
        // The public half is no secret.
        if which == .publicKey { addition.attributes[.isExtractable] = .number(1) }
        if half.attributes[.wasNeverExtractable] == nil, addition.attributes[.isExtractable] == .number(0) {
            addition.attributes[.wasNeverExtractable] = .number(1)
        }
        addition.secrets = ItemSecrets(data: data)
        return addition
    }

    /// An item that is added with its bytes is a key where they are one: then its application label is that of the key, unless its maker gave
    /// another.
    static func complete(_ record: inout ItemRecord) {
        guard record.itemClass == .key, record.attributes[.applicationLabel] == nil else { return }
        guard case .number? = record.attributes[.type], case .number? = record.attributes[.keyClass] else { return }
        let label = try? withKey(of: record) { (key) throws(KeychainError) in
            switch key {
            case .publicKey(let key): try key.applicationLabel()
            case .privateKey(let key): try key.publicKey.applicationLabel()
            }
        }
        if let label { record.attributes[.applicationLabel] = .data(label) }
    }

    /// Lends the key that an item holds.
    ///
    /// - Parameter cache: where private keys are kept ready; nil for one that is looked at once.
    /// - Throws: errSecUnimplemented for a type that is not served, errSecDecode where the bytes are no such key.
    static func withKey<Result>(
        of item: ItemRecord, from cache: KeyCache? = nil, _ body: (Key) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard let data = item.secrets?.data else { throw KeychainError(.decode, "the item holds no key") }
        guard case .number(let number)? = item.attributes[.type], let type = KeyType(rawValue: number) else {
            throw KeychainError(.unimplemented, "keys of this type are only kept, not used")
        }
        guard case .number(let half)? = item.attributes[.keyClass], let half = KeyHalf(rawValue: half) else {
            throw KeychainError(.unimplemented, "only keys of a pair are used")
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

    /// Refuses a key that is said to lie on a token (`kSecAttrTokenID`): its bytes would lie in the database like any other's, and come out again.
    static func refuseToken(_ record: ItemRecord) throws(KeychainError) {
        guard record.itemClass == .key, let token = record[.tokenIdentifier], !token.canonicalBytes.isEmpty else {
            return
        }
        throw KeychainError(
            .unimplemented, "there is no token or Secure Enclave to hold the key, so it was not stored",
            hint: "leave kSecAttrTokenID out to keep the key in the keychain")
    }

    // MARK: What its attributes allow

    static let notExtractable = KeychainError(
        .unimplemented, "the key may be used, and not be taken out of the keychain",
        hint: "it was made with kSecAttrIsExtractable = false; make another one to have its bytes")

    /// Takes the data out of what is given to a caller, where it may not have it.
    ///
    /// - Throws: errSecUnimplemented where the data was all that was asked for, and there is none to give.
    static func removeProtectedData(from records: inout [ItemRecord], _ returning: ReturnTypes) throws(KeychainError) {
        guard returning.contains(.data) else { return }
        for index in records.indices where !records[index].isExtractable { records[index].secrets = nil }
        if returning == .data, !records.isEmpty, records.allSatisfy({ !$0.isExtractable }) { throw notExtractable }
    }

    static func requirePermission(for use: PrivateKeyUse, of item: ItemRecord) throws(KeychainError) {
        for operation in use.operations where isForbidden(KeyAttributes.permission(for: operation), of: item) {
            throw KeychainError(.keyUsageIncorrect, "the key was made so that it does not \(operation)")
        }
    }

    private static func isForbidden(_ attribute: ItemAttribute, of item: ItemRecord) -> Bool {
        switch item.attributes[attribute] {
        case nil: false
        case .number(let flag)?: flag == 0
        default: true
        }
    }

    /// Refuses a change that would let out what may not leave.
    static func check(_ changed: ItemRecord, was record: ItemRecord) throws(KeychainError) {
        guard record.itemClass == .key, !record.isExtractable else { return }
        guard !changed.isExtractable, changed.attributes[.keyClass] == record.attributes[.keyClass] else {
            throw KeychainError(.param, "a key that may not be taken out stays so")
        }
    }
}
