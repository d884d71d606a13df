// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Keybag
public import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The result of a search.
public struct SearchResult: Sendable {
    /// In the order of insertion.
    public var records: [ItemRecord] = []
    /// Damaged rows that may match. They were skipped.
    public var damaged: [DamagedRow] = []
}

/// A row that does not authenticate or decode.
public struct DamagedRow: Sendable, Hashable {
    /// nil if the identifier is damaged, too.
    public let identifier: ItemIdentifier?
    /// The damage; contains no value of the item.
    public let reason: String
}

extension KeychainStore {
    /// Returns the items that match the search, at most `limit`.
    ///
    /// - Parameters:
    ///   - withDigest: also sets the attribute `sha1` of items that have data.
    ///   - withAttributes: if false, the records need not have attributes: then they are verified
    ///     and compared without being copied.
    public func search(
        _ search: ItemSearch, limit: Int?, withSecrets: Bool, withDigest: Bool = false, withAttributes: Bool = true
    ) throws(StoreError) -> SearchResult {
        guard limit != 0 else { return SearchResult() }
        keybag.recordUse()
        func collect(_ database: Database, _ seal: RowSeal) throws(StoreError) -> SearchResult? {
            try records(
                of: search, limit: limit, withSecrets: withSecrets, withDigest: withDigest,
                withAttributes: withAttributes, in: database, seal)
        }
        // One statement sees one state of the database and needs no transaction, unless the cached
        // keyring is outdated.
        if let result = try readOutsideTransaction(collect) { return result }
        guard let result = try read(collect) else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
        return result
    }

    /// Returns the result of a search; nil if a row is sealed under a newer keybag than the given
    /// one.
    func records(
        of search: ItemSearch, limit: Int?, withSecrets: Bool, withDigest: Bool = false, withAttributes: Bool = true,
        in database: Database, _ seal: RowSeal
    ) throws(StoreError) -> SearchResult? {
        var (result, size) = (SearchResult(), 0)
        let isComplete = try forEachCandidate(of: search, in: database, seal) { (row) throws(StoreError) in
            do throws(RowSeal.Failure) {
                guard
                    var record = try Self.matchingRecord(
                        row, by: search, seal, withSecrets: withSecrets, withAttributes: withAttributes)
                else { return true }
                if withDigest { record.setDigest() }
                size += record.secrets?.data?.count ?? 0
                result.records.append(record)
            } catch {
                result.damaged.append(try error.damage(of: row))
            }
            if let max = ResultLimit.current, size > max, result.records.count > 1 { throw .resultTooLarge(max: max) }
            return limit.map { result.records.count < $0 } ?? true
        }
        return isComplete ? result : nil
    }

    /// Stores a new item. A tombstone with the same primary key is replaced and keeps its
    /// identifier; a damaged row with that key is moved to quarantine.
    ///
    /// - Returns: the record as it was stored.
    /// - Throws: ``StoreError/duplicate``.
    public func add(_ record: ItemRecord) throws(StoreError) -> ItemRecord {
        keybag.recordUse()
        return try write { (database, seal) throws(StoreError) in try add(record, to: database, seal) }
    }

    /// Stores new items, all or none, as ``add(_:)`` does.
    public func add(_ records: [ItemRecord]) throws(StoreError) -> [ItemRecord] {
        keybag.recordUse()
        return try write { (database, seal) throws(StoreError) in
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
                in: database)
        } else {
            try insert(try seal.seal(record, revision: 1), in: database)
        }
        record.setDigest()
        return record
    }

    /// Changes all items that match the search, or none, and reseals both halves of each.
    ///
    /// - Returns: the number of items.
    /// - Throws: ``StoreError/duplicate`` if a changed item gets the primary key of another live
    ///   item.
    public func update(
        _ search: ItemSearch, _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        try transaction { (items) throws(StoreError) in try items.update(search, change) }
    }

    func update(
        _ search: ItemSearch, in database: Database, _ seal: RowSeal,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        let matches = try matches(of: search, in: database, seal)
        for (row, record) in matches {
            let changed = try asStoreErrors { () throws(KeychainError) in try change(record) }
            let primaryKey = seal.tokens.primaryKey(of: changed, group: seal.tokens.group(changed.accessGroup))
            if row.primaryKey != .token(primaryKey) {
                if let tombstone = try resolveKeyConflict(for: changed, except: row.position, in: database, seal) {
                    try delete(tombstone, in: database)
                }
            }
            try replace(try seal.seal(changed, revision: row.clear.revision + 1, position: row.position), in: database)
        }
        return matches.count
    }

    /// Deletes every item that matches the search. Items that can be synchronized leave a
    /// tombstone.
    ///
    /// - Returns: the number of items.
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        try transaction { (items) throws(StoreError) in try items.remove(search, now: now) }
    }

    func remove(_ search: ItemSearch, now: Double, in database: Database, _ seal: RowSeal) throws(StoreError) -> Int {
        var locked: [ItemRow] = []
        let matches = try matches(of: search, in: database, seal) { (row) in
            // A local row can be deleted without a key if its tokens decide that it matches
            // (keychain-behaviour §2).
            guard search.isDecidedByTokens, !row.clear.canSynchronize else { return false }
            locked.append(row)
            return true
        }
        for row in locked { try delete(row, in: database) }
        for (row, record) in matches {
            if record.canSynchronize, !record.isTombstone {
                let tombstone = record.tombstone(at: now)
                try replace(
                    try seal.seal(tombstone, revision: row.clear.revision + 1, position: row.position), in: database)
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

    // MARK: Rows

    /// Calls `body` with every candidate row until it returns false. A row with an invalid
    /// plaintext column is skipped and not reported: nothing of it can be searched.
    ///
    /// - Returns: false if a row is sealed under a newer keybag than `seal` has; then the caller
    ///   must discard the result.
    @discardableResult
    func forEachCandidate(
        of search: ItemSearch, in database: Database, _ seal: RowSeal, _ body: (ItemRow) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let form = search.form
        let statement = try RowStatement(form.sql, in: database)
        var index: Int32 = 1
        for parameter in search.parameters(form, seal.tokens) {
            switch parameter {
            case .number(let number): try statement.bind(number, at: index)
            case .bytes(let bytes): try statement.bind(bytes, at: index)
            case .token(let token): try statement.bind(token, at: index)
            }
            index += 1
        }
        while try statement.step() {
            guard statement.integer(CandidateQuery.generationColumn) == Int64(bitPattern: seal.keyring.generation)
            else { return false }
            guard let row = ItemRow(statement) else { continue }
            guard try body(row) else { break }
        }
        return true
    }

    /// Returns the opened record of a candidate, or nil if it does not match.
    static func matchingRecord(
        _ row: ItemRow, by search: ItemSearch, _ seal: RowSeal, withSecrets: Bool, withAttributes: Bool = true
    ) throws(RowSeal.Failure) -> ItemRecord? {
        let match = try seal.open(row) { (fields) throws(RowDamage) -> ItemRecord? in
            if !withAttributes, search.isDecidedByFields {
                return search.matches(fields) ? fields.bareRecord : nil
            }
            let record = try fields.record()
            return search.matches(record) ? record : nil
        }
        guard var record = match else { return nil }
        guard withSecrets || search.needsSecrets else { return record }
        let secrets = try seal.openSecrets(of: row)
        guard search.matches(secrets) else { return nil }
        if withSecrets { record.secrets = secrets }
        return record
    }

    /// Returns the matching rows with their opened records.
    ///
    /// - Parameter handlesLocked: returns whether the caller handles a row of a locked class; if
    ///   not, the call fails.
    private func matches(
        of search: ItemSearch, in database: Database, _ seal: RowSeal, handlesLocked: (ItemRow) -> Bool = { _ in false }
    ) throws(StoreError) -> [(ItemRow, ItemRecord)] {
        var matches: [(ItemRow, ItemRecord)] = []
        try forEachCandidate(of: search, in: database, seal) { (row) throws(StoreError) in
            do throws(RowSeal.Failure) {
                if let record = try Self.matchingRecord(row, by: search, seal, withSecrets: true) {
                    matches.append((row, record))
                }
            } catch {
                if case .closed = error, handlesLocked(row) { return true }
                _ = try error.damage(of: row)  // A damaged row is skipped; a locked class is an error.
            }
            return true
        }
        return matches
    }

    /// Ensures that no other live row has the primary key of the record.
    ///
    /// - Returns: the tombstone with this primary key, if there is one.
    /// - Throws: ``StoreError/duplicate``.
    private func resolveKeyConflict(
        for record: ItemRecord, except position: Int64?, in database: Database, _ seal: RowSeal
    ) throws(StoreError) -> ItemRow? {
        let token = seal.tokens.primaryKey(of: record, group: seal.tokens.group(record.accessGroup))
        guard let (location, row) = try Self.row(withPrimaryKey: token, in: database), location != position else {
            return nil
        }
        guard let row else {
            try Quarantine.move(location, in: database)
            return nil
        }
        let existing: ItemRecord
        do throws(RowSeal.Failure) {
            existing = try seal.openWhole(row)
        } catch {
            if case .closed(let reason) = error {
                // A row of a locked class cannot be opened. A tombstone is no item: the record
                // cannot replace it before its class is unlocked.
                throw row.clear.isTombstone ? .keybag(reason) : .duplicate
            }
            try Quarantine.move(location, in: database)
            return nil
        }
        guard existing.isTombstone else { throw .duplicate }
        return row
    }

    /// Returns the position of the row with this primary key, and the row if its plaintext columns
    /// are valid.
    private static func row(withPrimaryKey token: SearchToken, in database: Database) throws(StoreError) -> (
        Int64, ItemRow?
    )? {
        let statement = try RowStatement(selectByPrimaryKey, in: database)
        try statement.bind(token, at: 1)
        guard try statement.step() else { return nil }
        return (statement.integer(0), ItemRow(statement))
    }

    func insert(_ row: ItemRow, in database: Database) throws(StoreError) {
        try itemQuota?.checkRowQuota(in: database)
        let statement = try RowStatement(Self.insertion, in: database)
        _ = try row.bind(to: statement)
        try statement.run()
    }

    func replace(_ row: ItemRow, in database: Database) throws(StoreError) {
        let statement = try RowStatement(Self.replacement, in: database)
        let last = try row.bind(to: statement)
        try statement.bind(row.position, at: last + 1)
        try statement.run()
    }

    private func delete(_ row: ItemRow, in database: Database) throws(StoreError) {
        let statement = try RowStatement("DELETE FROM item WHERE id = ?", in: database)
        try statement.bind(row.position, at: 1)
        try statement.run()
    }

    private static let selectByPrimaryKey =
        "SELECT id, \(ItemRow.columns.joined(separator: ", ")) FROM item WHERE primary_key = ?"
    private static let insertion =
        "INSERT INTO item (\(ItemRow.columns.joined(separator: ", "))) VALUES (\(ItemRow.columns.map { _ in "?" }.joined(separator: ", ")))"
    private static let replacement =
        "UPDATE item SET \(ItemRow.columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"
}

extension RowSeal.Failure {
    /// Returns the damage, or throws the error of a locked class.
    func damage(of row: ItemRow) throws(StoreError) -> DamagedRow {
        switch self {
        case .damaged(let damage): DamagedRow(identifier: row.clear.identifier, reason: damage.reason)
        case .closed(let error): throw .keybag(error)
        }
    }
}

extension ItemRecord {
    /// Sets the attribute `sha1`, which is computed from the data and is never stored.
    fileprivate mutating func setDigest() {
        attributes[.digest] = secrets?.data.map { .data($0.withUnsafeBytes { RowCryptography.digest($0) }) }
    }
}
