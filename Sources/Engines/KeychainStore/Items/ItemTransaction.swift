// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import SQLiteConnections

/// The items in one state of the database: within a transaction, or for one statement that reads. Do not
/// use it after the closure that receives it has returned.
public struct ItemTransaction {
    let database: Database
    let seal: RowSeal
    /// nil if the number of items is not limited.
    let quota: ItemQuota?
    /// The transaction of other reads; the rows use its budget. nil for none.
    var shared: SharedRead?

    /// Returns all items that match the search. Damaged rows are skipped.
    public func records(of search: ItemSearch) throws(StoreError) -> [ItemRecord] {
        guard let result = try records(of: search, limit: nil, withSecrets: false) else {
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
        // A locked class is reported before a duplicate (keychain-behaviour §3.1).
        try seal.requireOpen(record.protection)
        var record = record
        let tombstone = try resolveKeyConflict(for: record, except: nil)
        if let tombstone {
            record.identifier = tombstone.clear.identifier
            try replace(
                try seal.seal(record, revision: tombstone.clear.revision + 1, position: tombstone.position))
        } else {
            try insert(try seal.seal(record, revision: 1))
        }
        record.setDigest()
        return record
    }

    /// Stores a new item as ``KeychainStore/add(_:)`` does, unless an item with the same primary
    /// key exists.
    ///
    /// - Returns: whether the item was stored.
    public func addUnlessPresent(_ record: ItemRecord) throws(StoreError) -> Bool {
        do throws(StoreError) {
            // add(_:) finds a duplicate before it writes anything.
            _ = try add(record)
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
        let matches = try matches(of: search)
        for (row, record) in matches {
            _ = try update(row, record, numbersAccount: numbersAccounts, change)
        }
        return matches.count
    }

    /// Changes one item.
    ///
    /// - Parameter numbersAccount: whether the account gets a number if another item has the new
    ///   primary key; otherwise that is an error.
    /// - Returns: the record as it was stored.
    func update(
        _ row: ItemRow, _ record: ItemRecord, numbersAccount: Bool,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> ItemRecord {
        if let constraints = record.needsAuthentication {
            throw .authenticationNeeded(constraints, record.identifier)
        }
        var changed = try withErrors(as: StoreError.refused) { () throws(KeychainError) in try change(record) }
        if numbersAccount { changed = try numbered(changed, except: row.position) }
        let primaryKey = seal.tokens.primaryKey(of: changed, group: seal.tokens.group(changed.accessGroup))
        if row.primaryKey != .token(primaryKey) {
            if let tombstone = try resolveKeyConflict(for: changed, except: row.position) {
                try delete(tombstone)
            }
        }
        let resealed = try seal.seal(changed, revision: row.clear.revision + 1, position: row.position)
        try replace(resealed)
        changed.setDigest()
        return changed
    }

    /// Deletes every item that matches the search, as ``KeychainStore/remove(_:now:)`` does, and
    /// returns their number.
    @discardableResult
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        var locked: [ItemRow] = []
        let unsatisfied = ItemTransaction(database: database, seal: seal.with(seal.keyring), quota: quota)
        let matches = try unsatisfied.matches(of: search) { (row) in
            // A local row can be deleted without a key if its tokens decide that it matches
            // (keychain-behaviour §2).
            guard search.isDecidedByTokens(in: seal.columns), !row.clear.canSynchronize else { return false }
            locked.append(row)
            return true
        }
        for row in locked { try delete(row) }
        for (row, record) in matches {
            if record.canSynchronize, !record.isTombstone {
                let tombstone = record.tombstone(at: now)
                try replace(
                    try seal.seal(tombstone, revision: row.clear.revision + 1, position: row.position))
            } else {
                try delete(row)
            }
        }
        return matches.count + locked.count
    }
}

extension ItemRecord {
    /// Sets the attribute `sha1`. It is computed from the data and is never stored.
    mutating func setDigest() {
        attributes[.digest] = secrets?.data.map { .data($0.withUnsafeBytes { RowCryptography.digest($0) }) }
    }
}
