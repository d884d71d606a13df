// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// A store with an additional collection `session` in memory.
public struct CombinedSecretStore: SecretStore {
    private let main: any SecretStore
    private let session: MemorySecretStore

    public init(_ main: any SecretStore, session: MemorySecretStore = MemorySecretStore(.session, label: "session")) {
        (self.main, self.session) = (main, session)
    }

    private func store(of collection: CollectionName) -> any SecretStore {
        collection == .session ? session : main
    }

    // MARK: Collections

    public func collections() throws(SecretStoreError) -> [SecretCollection] {
        try main.collections() + session.collections()
    }

    public func collection(_ name: CollectionName) throws(SecretStoreError) -> SecretCollection {
        try store(of: name).collection(name)
    }

    public func createCollection(label: String) throws(SecretStoreError) -> SecretCollection {
        try main.createCollection(label: label)
    }

    public func setLabel(_ label: String, of collection: CollectionName) throws(SecretStoreError) {
        try store(of: collection).setLabel(label, of: collection)
    }

    public func deleteCollection(_ name: CollectionName) throws(SecretStoreError) {
        try store(of: name).deleteCollection(name)
    }

    public func defaultCollection() throws(SecretStoreError) -> CollectionName { try main.defaultCollection() }

    public func setDefaultCollection(_ name: CollectionName) throws(SecretStoreError) {
        // Items that are stored by default must outlive the service.
        guard name != .session else { throw .notSupported("the collection in memory cannot be the default") }
        try main.setDefaultCollection(name)
    }

    // MARK: Items

    public func items(in collection: CollectionName) throws(SecretStoreError) -> [SecretItemID] {
        try store(of: collection).items(in: collection)
    }

    public func items(in collection: CollectionName, limit: Int) throws(SecretStoreError) -> [SecretItem] {
        try store(of: collection).items(in: collection, limit: limit)
    }

    public func search(
        _ attributes: SecretAttributes, in collection: CollectionName?
    ) throws(SecretStoreError) -> [FoundItem] {
        if let collection { return try store(of: collection).search(attributes, in: collection) }
        return try main.search(attributes, in: nil) + session.search(attributes, in: nil)
    }

    public func item(_ reference: ItemReference) throws(SecretStoreError) -> SecretItem {
        try store(of: reference.collection).item(reference)
    }

    public func secret(of reference: ItemReference) throws(SecretStoreError) -> SecretValue {
        try store(of: reference.collection).secret(of: reference)
    }

    public func add(
        _ item: NewSecretItem, replacing: Bool, to collection: CollectionName
    ) throws(SecretStoreError) -> AddedItem {
        try store(of: collection).add(item, replacing: replacing, to: collection)
    }

    public func update(_ reference: ItemReference, with update: SecretItemUpdate) throws(SecretStoreError) {
        try store(of: reference.collection).update(reference, with: update)
    }

    public func deleteItem(_ reference: ItemReference) throws(SecretStoreError) {
        try store(of: reference.collection).deleteItem(reference)
    }

    // MARK: Reads that belong together

    public func reading<Value>(_ body: () throws(SecretStoreError) -> Value) throws(SecretStoreError) -> Value {
        try main.reading(body)
    }

    public func readingAtOnce<Value>(_ body: () throws(SecretStoreError) -> Value) -> Value? {
        session.isSmall ? main.readingAtOnce(body) : nil
    }

    // MARK: The lock

    public func lockDomain(of collection: CollectionName) throws(SecretStoreError) -> LockDomain {
        try store(of: collection).lockDomain(of: collection)
    }

    public func lock(_ collection: CollectionName) throws(SecretStoreError) {
        try store(of: collection).lock(collection)
    }

    public func unlock(_ collection: CollectionName, with passcode: SharedSecret) throws(SecretStoreError) {
        try store(of: collection).unlock(collection, with: passcode)
    }

    public func changePasscode(
        of collection: CollectionName, from old: SharedSecret?, to new: SharedSecret
    ) throws(SecretStoreError) {
        guard collection != .session else { throw .notSupported("the collection in memory has no passcode") }
        try main.changePasscode(of: collection, from: old, to: new)
    }

    // MARK: Changes

    public func observe(
        _ body: @escaping @Sendable (SecretStoreChange) -> Void
    ) throws(SecretStoreError) -> any Sendable {
        let observations: [any Sendable] = [try main.observe(body), try session.observe(body)]
        return observations
    }
}
