// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem
public import SecretMemory

/// Collections in memory: the collection `session`, and the store of tests.
public final class MemorySecretStore: SecretStore {
    private struct StoredItem {
        var label: String
        var attributes: SecretAttributes
        var secret: SecretValue
        let created: UInt64
        var modified: UInt64
        var creators: [ProgramPath]

        /// About the memory that it uses, in bytes.
        var size: Int {
            attributes.pairs.reduce(secret.bytes.count + label.utf8.count) {
                $0 + $1.name.utf8.count + $1.value.utf8.count
            }
        }

        mutating func add(_ creator: ProgramPath?) {
            guard let creator, !creators.contains(creator), creators.count < MemorySecretStore.maxCreators else {
                return
            }
            creators.append(creator)
        }
    }

    private struct StoredCollection {
        var label: String
        var items: [SecretItemID: StoredItem] = [:]
        /// In the order of their addition.
        var order: [SecretItemID] = []
        let created: UInt64
        var modified: UInt64
    }

    private struct State {
        var collections: [CollectionName: StoredCollection] = [:]
        var order: [CollectionName] = []
        var defaultCollection: CollectionName
        var passcode: SharedSecret?
        var isLocked = false
        var applications: [ApplicationID: SharedSecret] = [:]

        var size: Int {
            collections.values.reduce(0) { $0 + $1.items.values.reduce(0) { $0 + $1.size } }
        }
    }

    private let domain: LockDomain
    private let permanent: CollectionName
    private let state: SystemMutex<State>
    private let observers = Observers()
    private let now: @Sendable () -> UInt64

    /// - Parameters:
    ///   - name: the collection that the store begins with, and that cannot be deleted.
    ///   - passcode: the passcode of the collections; nil if they are never locked.
    ///   - now: seconds since 1970.
    public init(
        _ name: CollectionName, label: String, passcode: SharedSecret? = nil,
        now: @escaping @Sendable () -> UInt64 = { WallClock.seconds }
    ) {
        (domain, permanent, self.now) = (LockDomain("memory of \(name)"), name, now)
        var state = State(defaultCollection: name, passcode: passcode)
        state.collections[name] = StoredCollection(label: label, created: now(), modified: now())
        state.order = [name]
        self.state = SystemMutex(state)
    }

    // MARK: Collections

    public func collections() throws(SecretStoreError) -> [SecretCollection] {
        state.withLock { state in
            state.order.compactMap { name in
                state.collections[name].map { Self.describe(name, $0, isLocked: state.isLocked) }
            }
        }
    }

    public func collection(_ name: CollectionName) throws(SecretStoreError) -> SecretCollection {
        let found = state.withLock { state in
            state.collections[name].map { Self.describe(name, $0, isLocked: state.isLocked) }
        }
        guard let found else { throw .notFound }
        return found
    }

    public func createCollection(label: String) throws(SecretStoreError) -> SecretCollection {
        let time = now()
        let created = try change { (state) throws(SecretStoreError) -> SecretCollection in
            guard state.collections.count < Self.maxCollections else {
                throw .limitExceeded("\(Self.maxCollections) collections")
            }
            let used = Set(state.order)
            guard let name = CollectionName.unused(for: label, isUsed: { used.contains($0) || $0 == .session }) else {
                throw .limitExceeded("collections with one label")
            }
            let collection = StoredCollection(label: label, created: time, modified: time)
            state.collections[name] = collection
            state.order.append(name)
            return Self.describe(name, collection, isLocked: false)
        }
        return created
    }

    public func setLabel(_ label: String, of collection: CollectionName) throws(SecretStoreError) {
        let time = now()
        try change { (state) throws(SecretStoreError) -> Void in
            guard state.collections[collection] != nil else { throw .notFound }
            state.collections[collection]?.label = label
            state.collections[collection]?.modified = time
        }
    }

    public func deleteCollection(_ name: CollectionName) throws(SecretStoreError) {
        guard name != permanent else { throw .notSupported("the collection \(name) cannot be deleted") }
        try change { (state) throws(SecretStoreError) -> Void in
            guard state.collections.removeValue(forKey: name) != nil else { throw .notFound }
            state.order.removeAll { $0 == name }
            if state.defaultCollection == name { state.defaultCollection = permanent }
        }
    }

    public func defaultCollection() throws(SecretStoreError) -> CollectionName {
        state.withLock { $0.defaultCollection }
    }

    public func setDefaultCollection(_ name: CollectionName) throws(SecretStoreError) {
        try change(isLockedAllowed: true) { (state) throws(SecretStoreError) -> Void in
            guard state.collections[name] != nil else { throw .notFound }
            state.defaultCollection = name
        }
    }

    // MARK: Items

    /// Whether all items can be compared and read in less than a millisecond.
    var isSmall: Bool {
        state.withLock { state in
            state.collections.values.reduce(0) { $0 + $1.order.count } <= 32 && state.size <= 128 << 10
        }
    }

    public func items(in collection: CollectionName) throws(SecretStoreError) -> [SecretItemID] {
        let found = state.withLock { $0.collections[collection]?.order }
        guard let found else { throw .notFound }
        return found
    }

    public func items(in collection: CollectionName, limit: Int) throws(SecretStoreError) -> [SecretItem] {
        let found = state.withLock { state -> [SecretItem]? in
            guard let stored = state.collections[collection] else { return nil }
            return stored.order.prefix(limit).compactMap { identifier in
                stored.items[identifier].map {
                    Self.describe($0, at: ItemReference(collection, identifier), isLocked: state.isLocked)
                }
            }
        }
        guard let found else { throw .notFound }
        return found
    }

    public func search(
        _ attributes: SecretAttributes, in collection: CollectionName?
    ) throws(SecretStoreError) -> [FoundItem] {
        state.withLock { state in
            var found: [FoundItem] = []
            for name in state.order where collection == nil || collection == name {
                guard let stored = state.collections[name] else { continue }
                for identifier in stored.order {
                    guard let item = stored.items[identifier], item.attributes.contains(attributes) else { continue }
                    found.append(FoundItem(ItemReference(name, identifier), isLocked: state.isLocked))
                }
            }
            return found
        }
    }

    public func item(_ reference: ItemReference) throws(SecretStoreError) -> SecretItem {
        let found = state.withLock { state -> SecretItem? in
            guard let item = state.collections[reference.collection]?.items[reference.item] else { return nil }
            return Self.describe(item, at: reference, isLocked: state.isLocked)
        }
        guard let found else { throw .notFound }
        return found
    }

    public func secret(of reference: ItemReference) throws(SecretStoreError) -> SecretValue {
        let (secret, isLocked) = state.withLock { state in
            (state.collections[reference.collection]?.items[reference.item]?.secret, state.isLocked)
        }
        guard let secret else { throw .notFound }
        guard !isLocked else { throw .locked }
        return secret
    }

    public func add(
        _ item: NewSecretItem, replacing: Bool, to collection: CollectionName
    ) throws(SecretStoreError) -> AddedItem {
        let time = now()
        let fresh = SecretItemID(RandomBytes.array(count: 8))
        return try change { (state) throws(SecretStoreError) -> AddedItem in
            guard let stored = state.collections[collection], let fresh else { throw .notFound }
            let equal = stored.order.first { stored.items[$0]?.attributes == item.attributes }
            state.collections[collection]?.modified = time
            if replacing, let equal {
                state.collections[collection]?.items[equal]?.label = item.label
                state.collections[collection]?.items[equal]?.secret = item.secret
                state.collections[collection]?.items[equal]?.modified = time
                state.collections[collection]?.items[equal]?.add(item.creator)
                return AddedItem(ItemReference(collection, equal), isReplacement: true)
            }
            guard stored.order.count < Self.maxItems else { throw .limitExceeded("\(Self.maxItems) items in memory") }
            state.collections[collection]?.items[fresh] = StoredItem(
                label: item.label, attributes: item.attributes, secret: item.secret, created: time, modified: time,
                creators: item.creator.map { [$0] } ?? [])
            state.collections[collection]?.order.append(fresh)
            return AddedItem(ItemReference(collection, fresh), isReplacement: false)
        }
    }

    public func update(_ reference: ItemReference, with update: SecretItemUpdate) throws(SecretStoreError) {
        let time = now()
        try change { (state) throws(SecretStoreError) -> Void in
            guard var item = state.collections[reference.collection]?.items[reference.item] else { throw .notFound }
            item.label = update.label ?? item.label
            item.attributes = update.attributes ?? item.attributes
            item.secret = update.secret ?? item.secret
            item.modified = time
            state.collections[reference.collection]?.items[reference.item] = item
        }
    }

    public func deleteItem(_ reference: ItemReference) throws(SecretStoreError) {
        let time = now()
        try change { (state) throws(SecretStoreError) -> Void in
            guard state.collections[reference.collection]?.items.removeValue(forKey: reference.item) != nil else {
                throw .notFound
            }
            state.collections[reference.collection]?.order.removeAll { $0 == reference.item }
            state.collections[reference.collection]?.modified = time
        }
    }

    // MARK: The lock

    public func lockDomain(of collection: CollectionName) throws(SecretStoreError) -> LockDomain { domain }

    public func lock(_ collection: CollectionName) throws(SecretStoreError) {
        state.withLock { $0.isLocked = $0.passcode != nil }
        observers.report(.lock(domain))
    }

    public func unlock(_ collection: CollectionName, with passcode: SharedSecret) throws(SecretStoreError) {
        let isRight = state.withLock { state in
            guard let right = state.passcode, right != passcode else {
                state.isLocked = false
                return true
            }
            return false
        }
        guard isRight else { throw .wrongPasscode("the passcode is wrong") }
        observers.report(.lock(domain))
    }

    public func changePasscode(
        of collection: CollectionName, from old: SharedSecret?, to new: SharedSecret
    ) throws(SecretStoreError) {
        let isRight = state.withLock { state in
            guard state.passcode == old else { return false }
            state.passcode = new
            return true
        }
        guard isRight else { throw .wrongPasscode("the passcode is wrong") }
    }

    // MARK: Changes

    public func observe(
        _ body: @escaping @Sendable (SecretStoreChange) -> Void
    ) throws(SecretStoreError) -> any Sendable {
        observers.add(body)
    }

    private func change<Value: Sendable>(
        isLockedAllowed: Bool = false, _ body: (inout State) throws(SecretStoreError) -> Value
    ) throws(SecretStoreError) -> Value {
        let value = try state.withLock { (state) throws(SecretStoreError) -> Value in
            guard !state.isLocked || isLockedAllowed else { throw .locked }
            let before = state
            let value = try body(&state)
            guard state.size <= max(Self.maxSize, before.size) else {
                state = before
                throw .limitExceeded("\(Self.maxSize >> 20) MiB of items in memory")
            }
            return value
        }
        observers.report(.contents)
        return value
    }

    private static func describe(_ item: StoredItem, at reference: ItemReference, isLocked: Bool) -> SecretItem {
        guard !isLocked else { return SecretItem(locked: reference) }
        let metadata = SecretItemMetadata(
            label: item.label, attributes: item.attributes, created: item.created, modified: item.modified)
        return SecretItem(reference, metadata, creators: item.creators)
    }

    private static func describe(
        _ name: CollectionName, _ collection: StoredCollection, isLocked: Bool
    ) -> SecretCollection {
        SecretCollection(
            name, label: collection.label, isLocked: isLocked, created: collection.created,
            modified: collection.modified)
    }

    private static let maxItems = 4096
    /// Of all items together, in bytes.
    private static let maxSize = 64 << 20
    private static let maxCreators = 16
    private static let maxCollections = 256
}

// MARK: ApplicationSecretStore

extension MemorySecretStore: ApplicationSecretStore {
    public func secret(of application: ApplicationID) throws(SecretStoreError) -> SharedSecret {
        let fresh = SharedSecret(SecretBytes.random(count: Self.secretByteCount))
        return try change { (state) throws(SecretStoreError) -> SharedSecret in
            let secret = state.applications[application] ?? fresh
            state.applications[application] = secret
            return secret
        }
    }
}
