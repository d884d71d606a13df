// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
internal import SQLiteConnections
internal import SecretMemory

extension KeychainStore {
    /// Stores a new item; `binding` is what its constraints are bound to. A tombstone with the same
    /// primary key is replaced and keeps its identifier; a damaged row with that key is moved to
    /// quarantine.
    ///
    /// - Returns: the record as it was stored.
    /// - Throws: ``StoreError/duplicate``.
    public func add(_ record: ItemRecord, binding: ConstraintBinding? = nil) throws(StoreError) -> ItemRecord {
        keybag.recordUse()
        try deriveSealingKey(for: [record], binding)
        return try write(use: ConstraintUse(binding: binding)) { (database, seal) throws(StoreError) in
            try add(record, to: database, seal)
        }
    }

    /// Stores new items, all or none, as ``add(_:)`` does.
    public func add(_ records: [ItemRecord], binding: ConstraintBinding? = nil) throws(StoreError) -> [ItemRecord] {
        keybag.recordUse()
        try deriveSealingKey(for: records, binding)
        return try write(use: ConstraintUse(binding: binding)) { (database, seal) throws(StoreError) in
            var stored: [ItemRecord] = []
            for record in records { stored.append(try add(record, to: database, seal)) }
            return stored
        }
    }

    func add(_ record: ItemRecord, to database: Database, _ seal: RowSeal) throws(StoreError) -> ItemRecord {
        // A locked class is reported before a duplicate (keychain-behaviour §3.1).
        try seal.requireOpen(record.protection)
        var record = record
        let tombstone = try resolveKeyConflict(for: record, except: nil, in: database, seal)
        if let tombstone {
            record.identifier = tombstone.clear.identifier
            try replace(
                try seal.seal(record, revision: tombstone.clear.revision + 1, position: tombstone.position),
                in: database, seal)
        } else {
            try insert(try seal.seal(record, revision: 1), in: database, seal)
        }
        record.setDigest()
        return record
    }

    /// Changes all items that match the search, or none, and reseals both halves of each. If a key
    /// of an application password must be derived, `change` is called again for every item.
    ///
    /// - Parameters:
    ///   - constraints: satisfies the constraints of the items, and binds them again.
    ///   - numbersAccounts: whether an account gets a number if another item has the new primary key.
    /// - Returns: the number of items.
    /// - Throws: ``StoreError/duplicate`` if a changed item gets the primary key of another live
    ///   item; ``StoreError/authenticationNeeded(_:_:)``, ``StoreError/constraintLost(_:)`` or
    ///   ``StoreError/wrongApplicationPassword(_:)`` for the first item that does not open.
    public func update(
        _ search: ItemSearch, constraints: ConstraintUse = .none, numbersAccounts: Bool = false,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        try transaction(constraints: constraints) { (items) throws(StoreError) in
            try items.update(search, numbersAccounts: numbersAccounts, change)
        }
    }

    func update(
        _ search: ItemSearch, numbersAccounts: Bool = false, in database: Database, _ seal: RowSeal,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        let matches = try matches(of: search, in: database, seal)
        for (row, record) in matches {
            _ = try update(row, record, numbersAccount: numbersAccounts, in: database, seal, change)
        }
        return matches.count
    }

    /// Changes one item.
    ///
    /// - Parameter numbersAccount: whether the account gets a number if another item has the new
    ///   primary key; otherwise that is an error.
    /// - Returns: the record as it was stored.
    func update(
        _ row: ItemRow, _ record: ItemRecord, numbersAccount: Bool, in database: Database, _ seal: RowSeal,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> ItemRecord {
        if let constraints = record.needsAuthentication {
            throw .authenticationNeeded(constraints, record.identifier)
        }
        var changed = try asStoreErrors { () throws(KeychainError) in try change(record) }
        if numbersAccount { changed = try numbered(changed, except: row.position, in: database, seal) }
        let primaryKey = seal.tokens.primaryKey(of: changed, group: seal.tokens.group(changed.accessGroup))
        if row.primaryKey != .token(primaryKey) {
            if let tombstone = try resolveKeyConflict(for: changed, except: row.position, in: database, seal) {
                try delete(tombstone, in: database)
            }
        }
        let resealed = try seal.seal(changed, revision: row.clear.revision + 1, position: row.position)
        try replace(resealed, in: database, seal)
        changed.setDigest()
        return changed
    }

    /// Deletes every item that matches the search, also without satisfying its constraints. Items
    /// that can be synchronized leave a tombstone.
    ///
    /// - Returns: the number of items.
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        try transaction(isDeletion: true) { (items) throws(StoreError) in try items.remove(search, now: now) }
    }

    func remove(_ search: ItemSearch, now: Double, in database: Database, _ seal: RowSeal) throws(StoreError) -> Int {
        var locked: [ItemRow] = []
        let unsatisfied = seal.with(seal.keyring)
        let matches = try matches(of: search, in: database, unsatisfied) { (row) in
            // A local row can be deleted without a key if its tokens decide that it matches
            // (keychain-behaviour §2).
            guard search.isDecidedByTokens(in: seal.columns), !row.clear.canSynchronize else { return false }
            locked.append(row)
            return true
        }
        for row in locked { try delete(row, in: database) }
        for (row, record) in matches {
            if record.canSynchronize, !record.isTombstone {
                let tombstone = record.tombstone(at: now)
                try replace(
                    try seal.seal(tombstone, revision: row.clear.revision + 1, position: row.position), in: database,
                    seal)
            } else {
                try delete(row, in: database)
            }
        }
        return matches.count + locked.count
    }

    private func asStoreErrors<Result>(_ body: () throws(KeychainError) -> Result) throws(StoreError) -> Result {
        do {
            return try body()
        } catch {
            throw .refused(error)
        }
    }
}

extension ItemRecord {
    /// Sets the attribute `sha1`, which is computed from the data and is never stored.
    mutating func setDigest() {
        attributes[.digest] = secrets?.data.map { .data($0.withUnsafeBytes { RowCryptography.digest($0) }) }
    }
}
