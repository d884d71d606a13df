// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
internal import SQLiteConnections

/// Items: each call reads one state of the database, or makes one transaction.
extension KeychainStore {
    /// Stores a new item; its constraints are bound to `binding`. A tombstone with the same primary key is replaced and
    /// keeps its identifier; a damaged row with that key is moved to quarantine.
    ///
    /// - Returns: the record as it was stored.
    /// - Throws: ``StoreError/duplicate``.
    public func add(_ record: ItemRecord, binding: ConstraintBinding? = nil) throws(StoreError) -> ItemRecord {
        keybag.recordUse()
        try deriveSealingKey(for: [record], binding)
        return try write(use: ConstraintUse(binding: binding)) { (database, seal) throws(StoreError) in
            try items(database, seal).add(record)
        }
    }

    /// Stores new items, all or none, as ``add(_:)`` does.
    public func add(_ records: [ItemRecord], binding: ConstraintBinding? = nil) throws(StoreError) -> [ItemRecord] {
        keybag.recordUse()
        try deriveSealingKey(for: records, binding)
        return try write(use: ConstraintUse(binding: binding)) { (database, seal) throws(StoreError) in
            let rows = items(database, seal)
            var stored: [ItemRecord] = []
            for record in records { stored.append(try rows.add(record)) }
            return stored
        }
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

    /// Deletes every item that matches the search, also without satisfying its constraints. Items
    /// that can be synchronized leave a tombstone.
    ///
    /// - Returns: the number of items.
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        try transaction(isDeletion: true) { (items) throws(StoreError) in try items.remove(search, now: now) }
    }

    // MARK: Finding

    /// Returns the items that match the search, at most `limit`.
    ///
    /// The secrets of an item with constraints are opened only if
    /// `constraints` satisfies them, also if they are not returned; otherwise the record states the needed authentication (``ItemRecord/needsAuthentication``).
    ///
    /// - Parameters:
    ///   - withDigest: also sets the attribute `sha1` of items that have data.
    ///   - withAttributes: if false, the records need not have attributes: then they are verified
    ///     and compared without being copied.
    public func search(
        _ search: ItemSearch, limit: Int?, withSecrets: Bool, withDigest: Bool = false, withAttributes: Bool = true,
        constraints: ConstraintKeys? = nil
    ) throws(StoreError) -> SearchResult {
        guard limit != 0 else { return SearchResult() }
        keybag.recordUse()
        let use = ConstraintUse(constraints)
        let isInParts = search.isInParts
        // One statement sees one state of the database and needs no transaction, unless the cached keyring is outdated.
        // Of several parts, the first one may have enough items.
        if !isInParts || limit != nil, !search.readsGroupsFirst {
            let first = isInParts ? search.firstPart : search
            let found = try readOutsideTransaction(use) { (database, seal) throws(StoreError) -> SearchResult? in
                try items(database, seal).records(
                    of: first, limit: limit, withSecrets: withSecrets, withDigest: withDigest,
                    withAttributes: withAttributes)
            }
            if let found, !isInParts || found.records.count + found.locked.count >= limit ?? .max { return found }
        }
        let result = try read(use) { (database, seal) throws(StoreError) -> SearchResult? in
            try items(database, seal).records(
                of: search, limit: limit, withSecrets: withSecrets, withDigest: withDigest,
                withAttributes: withAttributes)
        }
        guard let result else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
        return result
    }

    /// Calls `take` with the items that match the search, in parts, until it returns false, and returns
    /// the last part. Constraints are not satisfied.
    ///
    /// - Parameters:
    ///   - begin: called before the first part, and again if the search begins anew: then the parts
    ///     before do not count.
    ///   - take: called while the database is read. It must not use the keychain.
    public func search(
        inParts search: ItemSearch, withSecrets: Bool, withDigest: Bool = false, withAttributes: Bool = true,
        begin: () -> Void, take: (SearchResult) -> Bool
    ) throws(StoreError) -> SearchResult {
        keybag.recordUse()
        func collect(_ database: Database, _ seal: RowSeal) throws(StoreError) -> SearchResult? {
            begin()
            return try items(database, seal).records(
                of: search, limit: nil, withSecrets: withSecrets, withDigest: withDigest,
                withAttributes: withAttributes, partLength: Self.partLength, take: take)
        }
        if !search.readsGroupsFirst, !search.isInParts,
            let result = try readOutsideTransaction(.none, collect)
        {
            return result
        }
        guard let result = try read(.none, collect) else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
        return result
    }

    /// The memory of a part.
    private static let partLength = 256 * ItemTransaction.itemLength

    /// Returns the pairs that match the search, at most `limit`, from one state of the database.
    ///
    /// The keys of a certificate are found by the index of the application label, so that other keys are neither read
    /// nor opened. Damaged rows are skipped; so is a lost half, with the pairs that contain it.
    ///
    /// - Parameter constraints: satisfies the constraints of keys and certificates. A half that they do not open has no
    ///   data, and states the needed authentication.
    public func pairs(_ search: PairSearch, limit: Int?, constraints: ConstraintKeys? = nil) throws(StoreError)
        -> PairSearchResult
    {
        guard limit != 0 else { return PairSearchResult() }
        keybag.recordUse()
        return try read(ConstraintUse(constraints)) { (database, seal) throws(StoreError) in
            try items(database, seal).pairs(search, limit: limit)
        }
    }

    /// Throws if the database is not the file at its path any more.
    public func requireCurrentFile() throws(StoreError) { try connections.requireFile() }

    /// Whether a row of a live item has this identifier, in quarantine as well.
    public func hasRow(_ identifier: ItemIdentifier) throws(StoreError) -> Bool {
        try read { (database, _) throws(StoreError) in
            let statement = try RowStatement(
                "SELECT 1 FROM item WHERE uuid = ?1 AND tombstone = 0 UNION ALL SELECT 1 FROM quarantine WHERE uuid = ?1",
                in: database)
            try statement.bind(identifier.bytes, at: 1)
            return try statement.step()
        }
    }

    /// Whether a group has live items of a class. None is opened.
    public func hasItems(_ itemClass: ItemClass, in group: AccessGroup) throws(StoreError) -> Bool {
        // As a search: one statement, unless the cached keyring is outdated.
        func exists(_ database: Database, _ seal: RowSeal) throws(StoreError) -> Bool? {
            let statement = try RowStatement(
                """
                SELECT EXISTS (SELECT 1 FROM item WHERE class = ? AND access_group = ? AND tombstone = 0),
                (SELECT generation FROM keybag WHERE id = 1)
                """, in: database)
            try statement.bind(Int64(itemClass.number), at: 1)
            try statement.bind(seal.tokens.group(group), at: 2)
            guard try statement.step(), statement.integer(1) == Int64(bitPattern: seal.keyring.generation) else {
                return nil
            }
            return statement.integer(0) == 1
        }
        if let exists = try readOutsideTransaction(.none, exists) { return exists }
        guard let exists = try read(.none, exists) else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
        return exists
    }

    // MARK: Transactions

    /// Runs several reads and changes as one transaction. When this returns, all changes are
    /// durable; when it throws, nothing has changed.
    ///
    /// `body` runs again, in a new transaction, if keys of an application password had to be
    /// derived: it must depend on nothing that it has changed outside the transaction.
    ///
    /// - Parameters:
    ///   - isDeletion: whether `body` only deletes, so that it may use the reserve for a full disk.
    ///   - constraints: satisfies the constraints of items that are read, and binds those of items that are stored.
    public func transaction<Result>(
        isDeletion: Bool = false, constraints: ConstraintUse = .none,
        _ body: (ItemTransaction) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        keybag.recordUse()
        return try write(isDeletion: isDeletion, use: constraints) { (database, seal) throws(StoreError) in
            try body(items(database, seal))
        }
    }

    /// The items as one transaction, or one statement, sees them.
    func items(_ database: Database, _ seal: RowSeal) -> ItemTransaction {
        ItemTransaction(
            database: database, seal: seal, quota: itemQuota, shared: SharedRead.current(of: connections))
    }
}
