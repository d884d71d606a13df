// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import SQLiteConnections

extension KeychainStore {
    /// Runs several reads and changes as one transaction. When this returns, all changes are
    /// durable; when it throws, nothing has changed.
    ///
    /// `body` runs again, in a new transaction, if keys of an application password had to be
    /// derived: it must depend on nothing that it has changed outside the transaction.
    ///
    /// - Parameters:
    ///   - isDeletion: whether `body` only deletes, so that it may use what is kept for a full disk.
    ///   - constraints: satisfies the constraints of items that are read, and binds those of items that are stored.
    public func transaction<Result>(
        isDeletion: Bool = false, constraints: ConstraintUse = .none,
        _ body: (ItemTransaction) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        keybag.recordUse()
        return try write(isDeletion: isDeletion, use: constraints) { (database, seal) throws(StoreError) in
            try body(ItemTransaction(store: self, database: database, seal: seal))
        }
    }
}

/// The items within one transaction of the store. Do not use it after the closure that receives it
/// has returned.
public struct ItemTransaction {
    let store: KeychainStore
    let database: Database
    let seal: RowSeal

    fileprivate init(store: KeychainStore, database: Database, seal: RowSeal) {
        self.store = store
        self.database = database
        self.seal = seal
    }

    /// Returns all items that match the search. Damaged rows are skipped.
    public func records(of search: ItemSearch) throws(StoreError) -> [ItemRecord] {
        guard let result = try store.records(of: search, limit: nil, withSecrets: false, in: database, seal) else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
        return result.records
    }

    /// Returns the first item that matches the search, a local one before a synchronized one; nil if there is
    /// none.
    public func first(of search: ItemSearch) throws(StoreError) -> ItemRecord? {
        Self.first(of: try records(of: search))
    }

    /// Returns the first local item; without one, the first synchronized one.
    public static func first(of records: [ItemRecord]) -> ItemRecord? {
        records.first { !$0.isSynchronizable } ?? records.first
    }

    /// Stores a new item as ``KeychainStore/add(_:binding:)`` does.
    public func add(_ record: ItemRecord) throws(StoreError) -> ItemRecord {
        try seal.requireOpen(record.protection)
        return try store.add(record, to: database, seal)
    }

    /// Returns the items of all pairs that match the search, without their data.
    public func pairedItems(_ search: PairSearch) throws(StoreError) -> PairedItems {
        try store.pairedItems(search, in: database, seal)
    }

    /// Stores a new item as ``KeychainStore/add(_:)`` does, unless an item with the same primary
    /// key exists.
    ///
    /// - Returns: whether the item was stored.
    public func addUnlessPresent(_ record: ItemRecord) throws(StoreError) -> Bool {
        do throws(StoreError) {
            // add(_:to:_:) finds a duplicate before it writes anything.
            _ = try store.add(record, to: database, seal)
            return true
        } catch .duplicate {
            return false
        }
    }

    /// Changes every item that matches the search, as ``KeychainStore/update(_:_:)`` does, and
    /// returns their number.
    @discardableResult
    public func update(
        _ search: ItemSearch, numbersAccounts: Bool = false,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        try store.update(search, numbersAccounts: numbersAccounts, in: database, seal, change)
    }

    /// Deletes every item that matches the search, as ``KeychainStore/remove(_:now:)`` does, and
    /// returns their number.
    @discardableResult
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        try store.remove(search, now: now, in: database, seal)
    }
}
