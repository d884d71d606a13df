// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Keybag
public import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// What a search found.
public struct SearchResult: Sendable {
    /// In the order of insertion.
    public var records: [ItemRecord] = []
    /// Rows that may have matched, but are not what was written. They were passed over.
    public var damaged: [DamagedRow] = []
}

/// A row that does not open.
public struct DamagedRow: Sendable, Hashable {
    /// nil where even the identifier is damaged.
    public let identifier: ItemIdentifier?
    /// What is wrong; holds no value of the item.
    public let reason: String
}

extension KeychainStore {
    /// The items that the search admits, at most `limit` of them.
    ///
    /// - Parameter withDigest: also sets the attribute `sha1` of items that have data.
    public func search(
        _ search: ItemSearch, limit: Int?, withSecrets: Bool, withDigest: Bool = false
    ) throws(StoreError) -> SearchResult {
        guard limit != 0 else { return SearchResult() }
        keybag.recordUse()
        func collect(_ database: Database, _ seal: RowSeal) throws(StoreError) -> SearchResult? {
            try records(of: search, limit: limit, withSecrets: withSecrets, withDigest: withDigest, in: database, seal)
        }
        // One statement sees one state of the database and needs no transaction, unless the keys at hand turn out to be old ones.
        if let result = try readOutsideTransaction(collect) { return result }
        guard let result = try read(collect) else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
        return result
    }

    /// What a search finds; nil where a row is sealed under a keybag that is newer than the one at hand.
    func records(
        of search: ItemSearch, limit: Int?, withSecrets: Bool, withDigest: Bool = false, in database: Database,
        _ seal: RowSeal
    ) throws(StoreError) -> SearchResult? {
        var (result, size) = (SearchResult(), 0)
        let isComplete = try forEachCandidate(of: search, in: database, seal) { (row) throws(StoreError) in
            do throws(RowSeal.Failure) {
                guard var record = try Self.matchingRecord(row, by: search, seal, withSecrets: withSecrets) else {
                    return true
                }
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

    /// Stores a new item. A tombstone with the same primary key is revived and keeps its identifier; a damaged row is moved aside.
    ///
    /// - Returns: the record as it was stored.
    /// - Throws: ``StoreError/duplicate``.
    public func add(_ record: ItemRecord) throws(StoreError) -> ItemRecord {
        keybag.recordUse()
        return try write { (database, seal) throws(StoreError) in try add(record, to: database, seal) }
    }

    /// Stores new items, all or none, each as ``add(_:)`` does.
    public func add(_ records: [ItemRecord]) throws(StoreError) -> [ItemRecord] {
        keybag.recordUse()
        return try write { (database, seal) throws(StoreError) in
            var stored: [ItemRecord] = []
            for record in records { stored.append(try add(record, to: database, seal)) }
            return stored
        }
    }

    func add(_ record: ItemRecord, to database: Database, _ seal: RowSeal) throws(StoreError) -> ItemRecord {
        // A closed class comes before a duplicate (keychain-behaviour §3.1).
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

    /// Changes every item that the search admits, all or none, and reseals both of its halves.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``StoreError/duplicate`` where a changed item meets a live one with the same primary key.
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
            if seal.tokens.primaryKey(of: changed, group: seal.tokens.group(changed.accessGroup)) != row.primaryKey {
                if let tombstone = try resolveKeyConflict(for: changed, except: row.position, in: database, seal) {
                    try delete(tombstone, in: database)
                }
            }
            try replace(try seal.seal(changed, revision: row.clear.revision + 1, position: row.position), in: database)
        }
        return matches.count
    }

    /// Deletes every item that the search admits. Items that can be synchronised leave a tombstone.
    ///
    /// - Returns: how many there were.
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        try transaction { (items) throws(StoreError) in try items.remove(search, now: now) }
    }

    func remove(_ search: ItemSearch, now: Double, in database: Database, _ seal: RowSeal) throws(StoreError) -> Int {
        var closed: [ItemRow] = []
        let matches = try matches(of: search, in: database, seal) { (row) in
            // Deleting a local row needs no key, if it can be told by its tokens (keychain-behaviour §2).
            guard search.isDecidedByTokens, !row.clear.canSynchronize else { return false }
            closed.append(row)
            return true
        }
        for row in closed { try delete(row, in: database) }
        for (row, record) in matches {
            if record.canSynchronize, !record.isTombstone {
                let tombstone = record.tombstone(at: now)
                try replace(
                    try seal.seal(tombstone, revision: row.clear.revision + 1, position: row.position), in: database)
            } else {
                try delete(row, in: database)
            }
        }
        return matches.count + closed.count
    }

    private func asStoreErrors<Result>(_ body: () throws(KeychainError) -> Result) throws(StoreError) -> Result {
        do {
            return try body()
        } catch {
            throw .refused(error)
        }
    }

    // MARK: Rows

    /// Hands every candidate row to `body` until it answers false. A row with an impossible clear column is reported as damaged by none:
    /// it carries nothing that could be looked for.
    ///
    /// - Returns: false where a row is sealed under a keybag that is newer than the one at hand; then nothing that was found counts.
    @discardableResult
    func forEachCandidate(
        of search: ItemSearch, in database: Database, _ seal: RowSeal, _ body: (ItemRow) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let statement = try RowStatement(search.form.sql, in: database)
        var index: Int32 = 1
        for parameter in search.parameters(seal.tokens) {
            switch parameter {
            case .number(let number): try statement.bind(number, at: index)
            case .bytes(let bytes): try statement.bind(bytes, at: index)
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

    /// The opened record of a candidate, or nil where the search does not admit it.
    private static func matchingRecord(
        _ row: ItemRow, by search: ItemSearch, _ seal: RowSeal, withSecrets: Bool
    ) throws(RowSeal.Failure) -> ItemRecord? {
        var record = try seal.open(row)
        guard search.matches(record) else { return nil }
        guard withSecrets || search.needsSecrets else { return record }
        let secrets = try seal.openSecrets(of: row)
        guard search.matches(secrets) else { return nil }
        if withSecrets { record.secrets = secrets }
        return record
    }

    /// The rows that the search admits, opened.
    ///
    /// - Parameter takesClosed: answers whether a row of a closed class is dealt with; if not, the call ends.
    private func matches(
        of search: ItemSearch, in database: Database, _ seal: RowSeal, takesClosed: (ItemRow) -> Bool = { _ in false }
    ) throws(StoreError) -> [(ItemRow, ItemRecord)] {
        var matches: [(ItemRow, ItemRecord)] = []
        try forEachCandidate(of: search, in: database, seal) { (row) throws(StoreError) in
            do throws(RowSeal.Failure) {
                if let record = try Self.matchingRecord(row, by: search, seal, withSecrets: true) {
                    matches.append((row, record))
                }
            } catch {
                if case .closed = error, takesClosed(row) { return true }
                _ = try error.damage(of: row)  // A damaged row is passed over; a closed class ends the call.
            }
            return true
        }
        return matches
    }

    /// Sees to it that no other row has the record's primary key.
    ///
    /// - Returns: the tombstone that may be revived, where there is one.
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
            // A row of a closed class cannot be judged; it counts as live.
            guard case .damaged = error else { throw .duplicate }
            try Quarantine.move(location, in: database)
            return nil
        }
        guard existing.isTombstone else { throw .duplicate }
        return row
    }

    /// The row with this primary key: its place, and its columns where they can be read.
    private static func row(withPrimaryKey token: [UInt8], in database: Database) throws(StoreError) -> (
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
    /// The damage, where that is the reason; a closed class is the call's error.
    func damage(of row: ItemRow) throws(StoreError) -> DamagedRow {
        switch self {
        case .damaged(let damage): DamagedRow(identifier: row.clear.identifier, reason: damage.reason)
        case .closed(let error): throw .keybag(error)
        }
    }
}

extension ItemRecord {
    /// Sets the attribute `sha1`, which follows from the data and is never stored.
    fileprivate mutating func setDigest() {
        attributes[.digest] = secrets?.data.flatMap { $0.withUnsafeBytes { RowCryptography.digest($0) } }.map {
            .data($0)
        }
    }
}
