// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Keybag
public import KeychainModel

extension KeychainStore {
    /// Runs several reads and changes as one transaction: all of them are durable when this returns, or none of them happened.
    public func transaction<Result>(_ body: (ItemTransaction) throws(StoreError) -> Result) throws(StoreError) -> Result
    {
        keybag.recordUse()
        return try write { (database, seal) throws(StoreError) in
            try body(ItemTransaction(store: self, database: database, seal: seal))
        }
    }
}

/// Items within one transaction of the store. Must not be kept beyond the closure that it is given to.
public struct ItemTransaction {
    private let store: KeychainStore
    private let database: Database
    private let seal: RowSeal

    fileprivate init(store: KeychainStore, database: Database, seal: RowSeal) {
        self.store = store
        self.database = database
        self.seal = seal
    }

    /// All items that the search admits. Damaged rows are passed over.
    public func records(of search: ItemSearch) throws(StoreError) -> [ItemRecord] {
        guard let result = try store.records(of: search, limit: nil, withSecrets: false, in: database, seal) else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
        return result.records
    }

    /// Stores a new item as ``KeychainStore/add(_:)`` does, unless there is one with the same primary key.
    ///
    /// - Returns: whether it was stored.
    public func addUnlessPresent(_ record: ItemRecord) throws(StoreError) -> Bool {
        do throws(StoreError) {
            // A duplicate is found before anything is written.
            _ = try store.add(record, to: database, seal)
            return true
        } catch .duplicate {
            return false
        }
    }

    /// Changes every item that the search admits, as ``KeychainStore/update(_:_:)`` does.
    @discardableResult
    public func update(
        _ search: ItemSearch, _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        try store.update(search, in: database, seal, change)
    }

    /// Deletes every item that the search admits, as ``KeychainStore/remove(_:now:)`` does.
    @discardableResult
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        try store.remove(search, now: now, in: database, seal)
    }
}
