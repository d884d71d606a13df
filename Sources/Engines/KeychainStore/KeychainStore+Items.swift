// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Keybag
public import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The result of a search.
public struct SearchResult: Sendable {
    /// In the order of insertion.
    public var records: [ItemRecord] = []
    /// Damaged rows that may match. They were skipped.
    public var damaged: [DamagedRow] = []
    /// Matching items whose enrolled set has changed. They are not in ``records``, open never again,
    /// and should be deleted.
    public var lost: [ItemIdentifier] = []
    /// Items, among ``records``, for which the application password was wrong.
    public var wrongPasswords: [ItemIdentifier] = []
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
    /// The secrets of an item with constraints are opened only if `constraints` satisfies them, also
    /// if they are not returned; otherwise the record says what is needed
    /// (``ItemRecord/needsAuthentication``).
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
        func collect(_ database: Database, _ seal: RowSeal) throws(StoreError) -> SearchResult? {
            try records(
                of: search, limit: limit, withSecrets: withSecrets, withDigest: withDigest,
                withAttributes: withAttributes, in: database, seal)
        }
        // One statement sees one state of the database and needs no transaction, unless the cached
        // keyring is outdated.
        let use = ConstraintUse(constraints)
        if let result = try readOutsideTransaction(use, collect) { return result }
        guard let result = try read(use, collect) else {
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
        var (result, size, pendingCount) = (SearchResult(), 0, 0)
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
                switch error {
                case .derivationPending:
                    // It is a record of the repeated search, and counts for the limit.
                    pendingCount += 1
                    return !seal.pending.isTooMany && limit.map { result.records.count + pendingCount < $0 } ?? true
                case .lost: result.lost.append(row.clear.identifier)
                case .wrongApplicationPassword:
                    // The password says nothing about other items of the search.
                    let unsatisfied = seal.with(seal.keyring)
                    guard let record = try? Self.matchingRecord(row, by: search, unsatisfied, withSecrets: withSecrets)
                    else { return true }
                    result.records.append(record)
                    result.wrongPasswords.append(record.identifier)
                default: result.damaged.append(try error.damage(of: row))
                }
            }
            if let max = ResultLimit.current, size > max, result.records.count > 1 { throw .resultTooLarge(max: max) }
            return limit.map { result.records.count + pendingCount < $0 } ?? true
        }
        return isComplete ? result : nil
    }

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

    /// Changes all items that match the search, or none, and reseals both halves of each. If a key of
    /// an application password must be derived, `change` is called again for every item.
    ///
    /// - Parameter constraints: satisfies the constraints of the items, and binds them again.
    /// - Returns: the number of items.
    /// - Throws: ``StoreError/duplicate`` if a changed item gets the primary key of another live
    ///   item; ``StoreError/authenticationNeeded(_:_:)``, ``StoreError/constraintLost(_:)`` or
    ///   ``StoreError/wrongApplicationPassword(_:)`` for the first item that does not open.
    public func update(
        _ search: ItemSearch, constraints: ConstraintUse = .none,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        try transaction(constraints: constraints) { (items) throws(StoreError) in try items.update(search, change) }
    }

    func update(
        _ search: ItemSearch, in database: Database, _ seal: RowSeal,
        _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> Int {
        let matches = try matches(of: search, in: database, seal)
        for (row, record) in matches {
            if let constraints = record.needsAuthentication {
                throw .authenticationNeeded(constraints, record.identifier)
            }
            let changed = try asStoreErrors { () throws(KeychainError) in try change(record) }
            let primaryKey = seal.tokens.primaryKey(of: changed, group: seal.tokens.group(changed.accessGroup))
            if row.primaryKey != .token(primaryKey) {
                if let tombstone = try resolveKeyConflict(for: changed, except: row.position, in: database, seal) {
                    try delete(tombstone, in: database)
                }
            }
            let resealed = try seal.seal(changed, revision: row.clear.revision + 1, position: row.position)
            try replace(resealed, in: database, seal)
        }
        return matches.count
    }

    /// Deletes every item that matches the search, also without satisfying its constraints. Items
    /// that can be synchronized leave a tombstone.
    ///
    /// - Returns: the number of items.
    public func remove(_ search: ItemSearch, now: Double) throws(StoreError) -> Int {
        try transaction { (items) throws(StoreError) in try items.remove(search, now: now) }
    }

    func remove(_ search: ItemSearch, now: Double, in database: Database, _ seal: RowSeal) throws(StoreError) -> Int {
        var locked: [ItemRow] = []
        let unsatisfied = seal.with(seal.keyring)
        let matches = try matches(of: search, in: database, unsatisfied) { (row) in
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
        let form = search.form(seal.columns)
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
        let constraint = try seal.constraint(of: row)
        let match = try seal.open(row, constraint) { (fields) throws(RowDamage) -> ItemRecord? in
            if !withAttributes, search.isDecidedByFields {
                return search.matches(fields) ? fields.bareRecord : nil
            }
            let record = try fields.record()
            return search.matches(record) ? record : nil
        }
        guard var record = match else { return nil }
        if let constraint {
            return try constrainedRecord(record, constraint, row, by: search, seal, withSecrets: withSecrets)
        }
        guard withSecrets || search.needsSecrets else { return record }
        let secrets = try seal.openSecrets(of: row)
        guard search.matches(secrets) else { return nil }
        if withSecrets { record.secrets = secrets }
        return record
    }

    /// Completes the record of a candidate with constraints; nil if it does not match. A search that
    /// depends on the secrets does not match without them.
    private static func constrainedRecord(
        _ found: ItemRecord, _ constraint: ConstraintRecord, _ row: ItemRow, by search: ItemSearch, _ seal: RowSeal,
        withSecrets: Bool
    ) throws(RowSeal.Failure) -> ItemRecord? {
        var record = found
        record.needsAuthentication = constraint.constraints
        guard seal.use.keys != nil else { return search.needsSecrets ? nil : record }
        let secrets: ItemSecrets
        do throws(RowSeal.Failure) {
            secrets = try seal.openSecrets(of: row)
        } catch {
            guard case .needsAuthentication = error else { throw error }
            return search.needsSecrets ? nil : record
        }
        guard search.matches(secrets) else { return nil }
        record.needsAuthentication = nil
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
                if case .derivationPending = error { return !seal.pending.isTooMany }
                _ = try error.damage(of: row)  // A damaged row is skipped; a locked class is an error.
            }
            return true
        }
        guard seal.pending.isEmpty else { throw .derivationPending }
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
        let found = try Self.row(withPrimaryKey: token, in: database, seal.columns)
        guard let (location, row) = found, location != position else {
            return nil
        }
        guard let row else {
            try Quarantine.move(location, in: database, seal.columns)
            return nil
        }
        let existing: ItemRecord
        do throws(RowSeal.Failure) {
            existing = try seal.verify(row)
        } catch {
            if case .closed(let reason) = error {
                // A row of a locked class cannot be opened. A tombstone is no item: the record
                // cannot replace it before its class is unlocked.
                throw row.clear.isTombstone ? .keybag(reason) : .duplicate
            }
            try Quarantine.move(location, in: database, seal.columns)
            return nil
        }
        guard existing.isTombstone else { throw .duplicate }
        return row
    }

    /// Returns the position of the row with this primary key, and the row if its plaintext columns
    /// are valid.
    private static func row(
        withPrimaryKey token: SearchToken, in database: Database, _ columns: RowColumns
    ) throws(StoreError) -> (Int64, ItemRow?)? {
        let statement = try RowStatement(
            "SELECT id, \(columns.selection) FROM item WHERE primary_key = ?", in: database)
        try statement.bind(token, at: 1)
        guard try statement.step() else { return nil }
        return (statement.integer(0), ItemRow(statement))
    }

    func insert(_ row: ItemRow, in database: Database, _ seal: RowSeal) throws(StoreError) {
        try itemQuota?.checkRowQuota(in: database)
        let statement = try RowStatement(seal.columns.insertion, in: database)
        _ = try row.bind(to: statement, seal.columns)
        try statement.run()
    }

    func replace(_ row: ItemRow, in database: Database, _ seal: RowSeal) throws(StoreError) {
        let statement = try RowStatement(seal.columns.replacement, in: database)
        let last = try row.bind(to: statement, seal.columns)
        try statement.bind(row.position, at: last + 1)
        try statement.run()
    }

    private func delete(_ row: ItemRow, in database: Database) throws(StoreError) {
        let statement = try RowStatement("DELETE FROM item WHERE id = ?", in: database)
        try statement.bind(row.position, at: 1)
        try statement.run()
    }
}

extension RowSeal.Failure {
    /// Returns the damage, or throws the error of a locked class or of a constraint.
    func damage(of row: ItemRow) throws(StoreError) -> DamagedRow {
        switch self {
        case .damaged(let damage): DamagedRow(identifier: row.clear.identifier, reason: damage.reason)
        case .closed(let error): throw .keybag(error)
        case .needsAuthentication(let constraints): throw .authenticationNeeded(constraints, row.clear.identifier)
        case .lost: throw .constraintLost(row.clear.identifier)
        case .wrongApplicationPassword: throw .wrongApplicationPassword(row.clear.identifier)
        case .derivationPending: throw .derivationPending
        }
    }
}

extension ItemRecord {
    /// Sets the attribute `sha1`, which is computed from the data and is never stored.
    fileprivate mutating func setDigest() {
        attributes[.digest] = secrets?.data.map { .data($0.withUnsafeBytes { RowCryptography.digest($0) }) }
    }
}
