// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
public import SecretMemory

/// Collections, their lock, and changes.
extension KeychainSecretStore {
    public func collections() throws(SecretStoreError) -> [SecretCollection] {
        try withKeychain { (keychain) throws(KeychainError) -> [SecretCollection] in
            let isLocked = try Self.isLocked(keychain)
            return try all(in: keychain).map { SecretCollection($0, isLocked: isLocked) }
        }
    }

    public func collection(_ name: CollectionName) throws(SecretStoreError) -> SecretCollection {
        try withKeychain { (keychain) throws(KeychainError) -> SecretCollection in
            let isLocked = try Self.isLocked(keychain)
            return SecretCollection(try KeychainCollections(keychain).collection(name), isLocked: isLocked)
        }
    }

    public func createCollection(label: String) throws(SecretStoreError) -> SecretCollection {
        try withKeychain { (keychain) throws(KeychainError) -> SecretCollection in
            guard try !Self.isLocked(keychain) else { throw .interactionNotAllowed }
            return SecretCollection(try KeychainCollections(keychain).create(label: label), isLocked: false)
        }
    }

    public func setLabel(_ label: String, of collection: CollectionName) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in
            try Self.requireOwn(collection)
            guard try !Self.isLocked(keychain) else { throw .interactionNotAllowed }
            try KeychainCollections(keychain).rename(collection, to: label)
        }
    }

    public func deleteCollection(_ name: CollectionName) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in
            try Self.requireOwn(name)
            _ = try KeychainCollections(keychain).delete(name)
        }
    }

    public func defaultCollection() throws(SecretStoreError) -> CollectionName {
        try withKeychain { (keychain) throws(KeychainError) -> CollectionName in
            try KeychainCollections(keychain).defaultName()
        }
    }

    public func setDefaultCollection(_ name: CollectionName) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in
            try Self.requireOwn(name)
            try KeychainCollections(keychain).setDefault(name)
        }
    }

    // MARK: The lock

    public func lockDomain(of collection: CollectionName) throws(SecretStoreError) -> LockDomain {
        .keychain
    }

    static func isLocked(_ keychain: KeychainSession) throws(KeychainError) -> Bool {
        try !keychain.settledLockStatus().open.contains(.whenUnlocked)
    }

    public func lock(_ collection: CollectionName) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in
            guard try keychain.lockStatus().hasPasscode else { return }
            try keychain.lock(immediately: true)
        }
    }

    public func unlock(_ collection: CollectionName, with passcode: SharedSecret) throws(SecretStoreError) {
        do throws(KeychainError) { try prepareUnlock() } catch { throw SecretStoreError(error) }
        try withKeychain { (keychain) throws(KeychainError) -> Void in try keychain.unlock(passcode) { _, _ in } }
    }

    public func changePasscode(
        of collection: CollectionName, from old: SharedSecret?, to new: SharedSecret
    ) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in
            if let old {
                try keychain.changePasscode(from: old, to: new, rotates: false) { _, _ in }
            } else {
                try keychain.setPasscode(new) { _, _ in }
            }
        }
    }

    // MARK: Changes

    public func observe(
        _ body: @escaping @Sendable (SecretStoreChange) -> Void
    ) throws(SecretStoreError) -> any Sendable {
        try withKeychain { (keychain) throws(KeychainError) -> any Sendable in
            try observers.add(keychain, generation(), body)
        }
    }
}

extension SecretCollection {
    fileprivate init(_ collection: KeychainCollection, isLocked: Bool) {
        self.init(
            collection.name, label: collection.label, isLocked: isLocked,
            created: collection.created.map { KeychainItemMapping.seconds($0) } ?? 0,
            modified: collection.modified.map { KeychainItemMapping.seconds($0) } ?? 0)
    }
}

// MARK: ApplicationSecretStore

extension KeychainSecretStore: ApplicationSecretStore {
    public func secret(of application: ApplicationID) throws(SecretStoreError) -> SharedSecret {
        let fresh = SharedSecret(SecretBytes.random(count: Self.secretByteCount))
        return try withKeychain { (keychain) throws(KeychainError) -> SharedSecret in
            let query = ItemQuery(
                .genericPassword,
                attributes: [
                    .service: .string(Self.portalService), .account: .string(application.text),
                ], accessGroup: application.accessGroup, synchronizable: .any)
            let found = try keychain.copyMatching(query, returning: .data)
            guard !found.isEmpty else { return try Self.add(fresh, query, application, keychain) }
            guard let secret = found.records.first?.secrets?.data, secret.count == Self.secretByteCount else {
                throw .decode
            }
            return secret
        }
    }

    /// Stores the secret, unless another request has stored one meanwhile.
    private static func add(
        _ secret: SharedSecret, _ query: ItemQuery, _ application: ApplicationID, _ keychain: KeychainSession
    ) throws(KeychainError) -> SharedSecret {
        var attributes = query.attributes
        attributes[.label] = .string("Secret of \(application.text)")
        do throws(KeychainError) {
            _ = try keychain.add(
                ItemAddition(
                    .genericPassword, attributes: attributes, secrets: ItemSecrets(data: secret),
                    accessGroup: application.accessGroup))
            return secret
        } catch {
            guard error.status == .duplicateItem else { throw error }
            guard let found = try keychain.copyMatching(query, returning: .data).records.first?.secrets?.data else {
                throw .decode
            }
            return found
        }
    }

    private static let portalService = "org.freedesktop.impl.portal.Secret"
}
