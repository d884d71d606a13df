// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
public import SecretMemory

/// Collections, their lock, and changes.
extension KeychainSecretStore {
    public func collections() throws(SecretStoreError) -> [SecretCollection] {
        let isLocked = try isLocked()
        let markers = try withMarkers { (markers) throws(KeychainError) in try markers.all(.collection) }
        return [Self.login(isLocked: isLocked)]
            + markers.compactMap { record in Self.describe(record, isLocked: isLocked) }
    }

    public func collection(_ name: CollectionName) throws(SecretStoreError) -> SecretCollection {
        let isLocked = try isLocked()
        guard name != .login else { return Self.login(isLocked: isLocked) }
        let record = try withMarkers { (markers) throws(KeychainError) in try markers.first(.collection, name.text) }
        guard let record, let found = Self.describe(record, isLocked: isLocked) else { throw .notFound }
        return found
    }

    public func createCollection(label: String) throws(SecretStoreError) -> SecretCollection {
        let present = try collections()
        guard present.count < Self.maxCollections else { throw .limitExceeded("\(Self.maxCollections) collections") }
        guard present.first?.isLocked != true else { throw .locked }
        let used = Set(present.map(\.name))
        guard let name = CollectionName.unused(for: label, isUsed: { used.contains($0) || $0 == .session }) else {
            throw .limitExceeded("collections with one label")
        }
        try withMarkers { (markers) throws(KeychainError) in try markers.set(.collection, name.text, label: label) }
        return try collection(name)
    }

    public func setLabel(_ label: String, of collection: CollectionName) throws(SecretStoreError) {
        guard collection != .login else { throw .notSupported("the login collection keeps its label") }
        _ = try self.collection(collection)
        try withMarkers { (markers) throws(KeychainError) in
            try markers.set(.collection, collection.text, label: label)
        }
    }

    public func deleteCollection(_ name: CollectionName) throws(SecretStoreError) {
        guard name != .login else { throw .notSupported("the login collection cannot be deleted") }
        guard try !collection(name).isLocked else { throw .locked }
        // The items first: without its record, a group could not be found any more.
        for item in try items(in: name) { try deleteItem(ItemReference(name, item)) }
        if try defaultCollection() == name { try setDefaultCollection(.login) }
        try withMarkers { (markers) throws(KeychainError) in try markers.remove(.collection, name.text) }
    }

    public func defaultCollection() throws(SecretStoreError) -> CollectionName {
        let record = try withMarkers { (markers) throws(KeychainError) in
            try markers.first(.alias, CollectionAlias.default.rawValue)
        }
        return record?[.label]?.text.flatMap { CollectionName($0) } ?? .login
    }

    public func setDefaultCollection(_ name: CollectionName) throws(SecretStoreError) {
        _ = try collection(name)
        try withMarkers { (markers) throws(KeychainError) in
            try markers.set(.alias, CollectionAlias.default.rawValue, label: name.text)
        }
    }

    private func withMarkers<Value>(
        _ body: (KeychainMarkers) throws(KeychainError) -> Value
    ) throws(SecretStoreError) -> Value {
        try withKeychain([AccessGroup.shared.name]) { (keychain) throws(KeychainError) in
            try body(KeychainMarkers(keychain))
        }
    }

    private static func login(isLocked: Bool) -> SecretCollection {
        SecretCollection(.login, label: "Login", isLocked: isLocked, created: 0, modified: 0)
    }

    private static func describe(_ record: ItemRecord, isLocked: Bool) -> SecretCollection? {
        guard let name = record[.account]?.text.flatMap({ CollectionName($0) }) else { return nil }
        return SecretCollection(
            name, label: record[.label]?.text ?? name.text, isLocked: isLocked, created: seconds(record.created),
            modified: seconds(record.modified))
    }

    private static let maxCollections = 256

    // MARK: The lock

    public func lockDomain(of collection: CollectionName) throws(SecretStoreError) -> LockDomain {
        LockDomain("keychain")
    }

    private func isLocked() throws(SecretStoreError) -> Bool {
        try withKeychain([]) { (keychain) throws(KeychainError) -> Bool in
            try !keychain.lockStatus().open.contains(.whenUnlocked)
        }
    }

    public func lock(_ collection: CollectionName) throws(SecretStoreError) {
        try withKeychain([]) { (keychain) throws(KeychainError) -> Void in
            guard try keychain.lockStatus().hasPasscode else { return }
            try keychain.lock(immediately: true)
        }
    }

    public func unlock(_ collection: CollectionName, with passcode: SharedSecret) throws(SecretStoreError) {
        try withKeychain([]) { (keychain) throws(KeychainError) in try keychain.unlock(passcode) { _, _ in } }
    }

    public func changePasscode(
        of collection: CollectionName, from old: SharedSecret?, to new: SharedSecret
    ) throws(SecretStoreError) {
        try withKeychain([]) { (keychain) throws(KeychainError) -> Void in
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
        let domain = try lockDomain(of: .login)
        return try withKeychain([]) { (keychain) throws(KeychainError) -> any Sendable in
            let changes = try keychain.addChangeObserver { _ in body(.contents) }
            let lock = keychain.addLockObserver { _ in body(.lock(domain)) }
            return Removal {
                keychain.removeChangeObserver(changes)
                keychain.removeLockObserver(lock)
            }
        }
    }
}

// MARK: ApplicationSecretStore

extension KeychainSecretStore: ApplicationSecretStore {
    public func secret(of application: ApplicationID) throws(SecretStoreError) -> SharedSecret {
        let fresh = SharedSecret(SecretBytes.random(count: Self.secretByteCount))
        return try withKeychain([application.accessGroup]) { (keychain) throws(KeychainError) -> SharedSecret in
            let query = ItemQuery(
                .genericPassword,
                attributes: [
                    .service: .string(Self.portalService), .account: .string(application.text),
                ], accessGroup: application.accessGroup, synchronizable: .any)
            do throws(KeychainError) {
                let found = try keychain.copyMatching(query, returning: .data).records.first?.secrets?.data
                guard let found, found.count == Self.secretByteCount else { throw KeychainError.decode }
                return found
            } catch {
                guard error.status == .itemNotFound else { throw error }
                return try Self.add(fresh, query, application, keychain)
            }
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
