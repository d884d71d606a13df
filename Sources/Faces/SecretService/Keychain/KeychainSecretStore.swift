// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService

/// The user's keychain as a store: the same items that `SecItem` and `security` see.
///
/// A collection is an access group (``CollectionName/accessGroup``), and every call names the groups that
/// it is about. Attested groups are never visible here: every caller of a session bus is a program of the
/// user.
public final class KeychainSecretStore: SecretStore {
    private let open: @Sendable () throws(KeychainError) -> KeychainSession
    private let opened: @Sendable () -> KeychainSession?
    let generation: @Sendable () -> UInt64
    let prepareUnlock: @Sendable () throws(KeychainError) -> Void
    let observers = KeychainObservers()
    private let programs = ProgramCollections()

    /// - Parameters:
    ///   - generation: a number that grows when this process opens the keychain anew.
    ///   - prepareUnlock: called before the keychain is unlocked: starts the daemon that keeps it so for other
    ///     processes.
    ///   - opened: returns the keychain if that waits for nothing.
    ///   - open: returns the keychain, as this process uses it.
    public init(
        generation: @escaping @Sendable () -> UInt64 = { 0 },
        prepareUnlock: @escaping @Sendable () throws(KeychainError) -> Void = {},
        opened: @escaping @Sendable () -> KeychainSession? = { nil },
        _ open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) {
        (self.generation, self.prepareUnlock) = (generation, prepareUnlock)
        (self.open, self.opened) = (open, opened)
    }

    /// Calls `body` with the keychain, and converts its errors.
    func withKeychain<Value>(
        _ body: (KeychainSession) throws(KeychainError) -> Value
    ) throws(SecretStoreError) -> Value {
        do throws(KeychainError) {
            return try body(try current())
        } catch {
            throw SecretStoreError(error)
        }
    }

    private func current() throws(KeychainError) -> KeychainSession {
        if let reading = Self.reading, reading.store === self { return reading.keychain }
        let keychain = try open()
        observers.renew(keychain, generation())
        return keychain
    }

    // MARK: Reads that belong together

    /// The keychain of the reads of a call.
    private struct Reading {
        let store: KeychainSecretStore
        let keychain: KeychainSession
    }

    @TaskLocal private static var reading: Reading?

    public func reading<Value>(_ body: () throws(SecretStoreError) -> Value) throws(SecretStoreError) -> Value {
        let keychain = try withKeychain { (keychain) throws(KeychainError) in keychain }
        return try keychain.reading { run(body, keychain) }.get()
    }

    public func readingAtOnce<Value>(_ body: () throws(SecretStoreError) -> Value) -> Value? {
        guard let keychain = opened(), case .success(let value)? = keychain.readingAtOnce({ run(body, keychain) })
        else {
            return nil
        }
        return value
    }

    private func run<Value>(
        _ body: () throws(SecretStoreError) -> Value, _ keychain: KeychainSession
    ) -> Result<Value, SecretStoreError> {
        Self.$reading.withValue(Reading(store: self, keychain: keychain)) {
            Result { () throws(SecretStoreError) in try body() }
        }
    }

    // MARK: Searching

    public func items(in collection: CollectionName) throws(SecretStoreError) -> [SecretItemID] {
        try search(.none, in: collection).map(\.reference.item)
    }

    public func items(in collection: CollectionName, limit: Int) throws(SecretStoreError) -> [SecretItem] {
        try withKeychain { (keychain) throws(KeychainError) -> [SecretItem] in
            var query = Self.query(in: [collection])
            query.limit = .atMost(UInt32(clamping: limit))
            query.lookupAttributes = .empty
            let found = try keychain.copyMatching(query, returning: .attributes)
            let open = found.records.compactMap { record in
                Self.reference(record.persistentReference, in: record.accessGroup).map {
                    KeychainItemMapping.item(record, at: $0)
                }
            }
            let locked = found.locked.compactMap { item in
                Self.reference(item.reference, in: item.accessGroup).map { SecretItem(locked: $0) }
            }
            return Array((open + locked).prefix(limit))
        }
    }

    public func search(
        _ attributes: SecretAttributes, in collection: CollectionName?
    ) throws(SecretStoreError) -> [FoundItem] {
        try withKeychain { (keychain) throws(KeychainError) -> [FoundItem] in
            let lookup = try KeychainItemMapping.lookup(attributes)
            let collections = KeychainCollections(keychain)
            guard let collection else {
                return try Self.find(lookup, in: all(in: keychain).map(\.name), keychain)
            }
            try collections.require(collection)
            return try Self.find(lookup, in: [collection], keychain)
        }
    }

    /// Returns the items of all these collections, by one query.
    private static func find(
        _ lookup: LookupAttributes, in collections: [CollectionName], _ keychain: KeychainSession
    ) throws(KeychainError) -> [FoundItem] {
        var query = query(in: collections)
        query.limit = .all
        query.lookupAttributes = lookup
        var (open, locked) = ([FoundItem](), [FoundItem]())
        // Of each item only its path is kept.
        try keychain.copyMatching(query, returning: .persistentReference) {
            (open, locked) = ([], [])
        } inParts: { part in
            open += part.records.compactMap { record in
                reference(record.persistentReference, in: record.accessGroup).map { FoundItem($0, isLocked: false) }
            }
            locked += part.locked.compactMap { item in
                reference(item.reference, in: item.accessGroup).map { FoundItem($0, isLocked: true) }
            }
        }
        return open + locked
    }

    // MARK: Items

    public func item(_ reference: ItemReference) throws(SecretStoreError) -> SecretItem {
        try withKeychain { (keychain) throws(KeychainError) -> SecretItem in
            guard let record = try Self.record(reference, returning: .attributes, keychain) else {
                return SecretItem(locked: reference)
            }
            return KeychainItemMapping.item(record, at: reference)
        }
    }

    public func secret(of reference: ItemReference) throws(SecretStoreError) -> SecretValue {
        try withKeychain { (keychain) throws(KeychainError) -> SecretValue in
            guard let record = try Self.record(reference, returning: .data, keychain) else {
                throw .interactionNotAllowed
            }
            return KeychainItemMapping.secret(of: record)
        }
    }

    public func add(
        _ item: NewSecretItem, replacing: Bool, to collection: CollectionName
    ) throws(SecretStoreError) -> AddedItem {
        try withKeychain { (keychain) throws(KeychainError) -> AddedItem in
            try Self.requireOwn(collection)
            try KeychainCollections(keychain).require(collection)
            let record = try keychain.add(KeychainItemMapping.addition(item, replacing: replacing, in: collection))
            guard let reference = Self.reference(record.persistentReference, in: record.accessGroup) else {
                throw .missingEntitlement
            }
            // A new item has one date, and a change makes the second one later.
            return AddedItem(reference, isReplacement: record.modified > record.created)
        }
    }

    public func update(_ reference: ItemReference, with update: SecretItemUpdate) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in
            try Self.requireOwn(reference.collection)
            var query = try Self.query(reference)
            query.authentication = Authentication(.fail)
            guard try keychain.update(query, with: KeychainItemMapping.update(update)) > 0 else {
                throw .itemNotFound
            }
        }
    }

    public func deleteItem(_ reference: ItemReference) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in
            try Self.requireOwn(reference.collection)
            // A locked item is not deleted: the person may not have meant it.
            guard try Self.record(reference, returning: .persistentReference, keychain) != nil else {
                throw .interactionNotAllowed
            }
            guard try keychain.delete(Self.query(reference)) > 0 else { throw .itemNotFound }
        }
    }

    /// Returns the item; nil if it is locked.
    ///
    /// - Throws: errSecItemNotFound.
    private static func record(
        _ reference: ItemReference, returning: ReturnTypes, _ keychain: KeychainSession
    ) throws(KeychainError) -> ItemRecord? {
        var query = try query(reference)
        // With lookup attributes, a locked item is a match and no error.
        query.lookupAttributes = .empty
        let found = try keychain.copyMatching(query, returning: returning)
        let group = reference.collection.accessGroup
        if let record = found.records.first, record.accessGroup == group { return record }
        guard let locked = found.locked.first, locked.accessGroup == group else { throw .itemNotFound }
        return nil
    }

    /// Returns the collections of the user, and those of programs.
    func all(in keychain: KeychainSession) throws(KeychainError) -> [KeychainCollection] {
        let isLocked = { () throws(KeychainError) in try Self.isLocked(keychain) }
        return try KeychainCollections(keychain).all()
            + programs.all(in: keychain, isLocked: isLocked) { (body) throws(KeychainError) in
                try observers.add(keychain, generation()) { _ in body() }
            }
    }

    /// Throws for the collection of a program. Every program of the desktop can call this service: one that could write
    /// there could replace what another program believes to have stored itself.
    static func requireOwn(_ collection: CollectionName) throws(KeychainError) {
        guard collection.isOfProgram else { return }
        throw KeychainError(
            .missingEntitlement, "only the program itself changes the collection '\(collection.text)'",
            hint: "latchkey mv and latchkey rm move and delete its items")
    }

    // MARK: Queries

    /// A client gives up after 25 seconds, so no call waits for a person: items with an access control that needs one
    /// are left out, and are no items of a collection.
    private static func query(in collections: [CollectionName]) -> ItemQuery {
        var query = ItemQuery(nil, synchronizable: .any, authentication: Authentication(.skip))
        let groups = collections.map(\.accessGroup.name)
        if groups.count == 1 { query.accessGroup = groups.first } else { query.accessGroups = groups }
        return query
    }

    /// - Throws: errSecItemNotFound for a reference that no password has.
    private static func query(_ reference: ItemReference) throws(KeychainError) -> ItemQuery {
        guard let persistent = PersistentReference(bytes: reference.item.bytes), persistent.itemClass.isPassword
        else { throw .itemNotFound }
        var query = query(in: [reference.collection])
        query.persistentReference = persistent
        return query
    }

    /// Returns nil for an item of a group that is no collection.
    private static func reference(_ reference: PersistentReference, in group: AccessGroup) -> ItemReference? {
        guard let collection = CollectionName(group), let item = SecretItemID(reference.bytes) else { return nil }
        return ItemReference(collection, item)
    }
}

extension SecretStoreError {
    init(_ error: KeychainError) {
        switch error.status {
        case .itemNotFound: self = .notFound
        case .interactionNotAllowed: self = .locked
        case .authFailed: self = .wrongPasscode(error.problem)
        case .missingEntitlement, .readOnly, .writePermission: self = .denied(error.problem)
        case .param: self = .invalid(error.problem)
        case .dataTooLarge, .diskFull: self = .limitExceeded(error.problem)
        case .unimplemented: self = .notSupported(error.problem)
        default: self = .unavailable(error.problem, hint: error.hint)
        }
    }
}
