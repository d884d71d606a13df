// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import SQLiteConnections

/// Finding rows, and opening those that match.
extension ItemTransaction {
    /// Returns the result of a search; nil if a row is sealed under a newer keybag than the given
    /// one.
    ///
    /// - Parameters:
    ///   - partLength: the size of the results that are passed to `take`, in bytes of memory.
    ///   - take: gets the results before those that are returned; the search ends when it returns false.
    func records(
        of search: ItemSearch, limit: Int?, withSecrets: Bool, withDigest: Bool = false, withAttributes: Bool = true,
        partLength: Int = .max, take: (SearchResult) -> Bool = { _ in true }
    ) throws(StoreError) -> SearchResult? {
        var (result, size, pendingCount) = (SearchResult(), 0, 0)
        let isComplete = try forEachCandidate(of: search) { (row) throws(StoreError) in
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
                case .closed where search.lookup != nil && search.isDecidedByTokens(in: seal.columns):
                    if let group = search.group(of: row, seal.tokens) {
                        let reference = PersistentReference(row.clear.itemClass, row.clear.identifier)
                        result.locked.append(LockedItem(reference, group))
                    }
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
            let memory = size + (result.records.count + result.locked.count) * Self.itemLength
            if let max = ResultLimit.current, memory > max, result.records.count > 1 {
                throw .resultTooLarge(max: max)
            }
            if memory >= partLength {
                guard take(result) else { return false }
                (result, size) = (SearchResult(), 0)
            }
            return limit.map { result.records.count + pendingCount < $0 } ?? true
        }
        return isComplete ? result : nil
    }

    // MARK: Candidates

    /// Calls `body` with every candidate row until it returns false. A row with an invalid
    /// plaintext column is skipped and not reported: nothing of it can be searched.
    ///
    /// - Returns: false if a row is sealed under a newer keybag than `seal` has; then the caller
    ///   must discard the result.
    @discardableResult
    func forEachCandidate(
        of search: ItemSearch, _ body: (ItemRow) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        guard search.isInParts else { return try forEachCandidate(ofPart: search, body) }
        var isStopped = false
        for part in search.parts where !isStopped {
            let isComplete = try forEachCandidate(ofPart: part) { (row) throws(StoreError) in
                isStopped = try !body(row)
                return !isStopped
            }
            guard isComplete else { return false }
        }
        return true
    }

    private func forEachCandidate(
        ofPart search: ItemSearch, _ body: (ItemRow) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let tokens = search.lookupTokens(seal)
        guard !tokens.isEmpty else {
            return try forEachRow(of: search, .attributes, [], body)
        }
        // A row that gets its tokens just now may be in both results.
        var seen: Set<Int64> = []
        if try LookupTable.hasUnindexedRows(database) {
            var isStopped = false
            let isComplete = try forEachRow(of: search, .unindexed, []) {
                (row) throws(StoreError) in
                // Whether it matches is not known before its class is open.
                try seal.requireOpen(row.clear.protection)
                seen.insert(row.position)
                isStopped = try !body(row)
                return !isStopped
            }
            guard isComplete, !isStopped else { return isComplete }
        }
        guard let ordered = try LookupTable.ordered(tokens, in: database) else { return true }
        return try forEachRow(of: search, .lookup(ordered.count), ordered) {
            (row) throws(StoreError) in
            guard !seen.contains(row.position) else { return true }
            return try body(row)
        }
    }

    /// Calls `body` with the rows of one statement.
    private func forEachRow(
        of search: ItemSearch, _ selection: CandidateQuery.Selection, _ lookup: [SearchToken],
        _ body: (ItemRow) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var form = search.form(seal.columns, selection)
        var parameters = search.parameters(form, seal.tokens)
        try Self.nameGroups(of: &form, &parameters, in: database)
        let statement = try RowStatement(form.sql, in: database)
        var index: Int32 = 1
        for token in lookup {
            try statement.bind(token, at: index)
            index += 1
        }
        for parameter in parameters {
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
            try shared?.spend(bytes: row.metadata.count + row.secret.count)
            guard try body(row) else { break }
        }
        return true
    }

    /// Names the groups of a search of all groups, if they are few: then the rows are read in their order, and not
    /// sorted before the first one.
    static func nameGroups(
        of form: inout CandidateQuery, _ parameters: inout [ItemSearch.Parameter], in database: Database
    ) throws(StoreError) {
        guard form.groupCount == nil, form.selectsGroups,
            let groups = try groups(of: form.itemClass, max: CandidateQuery.maxMerged, in: database), !groups.isEmpty
        else { return }
        form.groupCount = groups.count
        parameters += groups.map { .bytes($0) }
    }

    /// Returns the tokens of the access groups that items of a class have; nil if there are more than `max`, or if a
    /// row has no token there. The search reports that damage.
    private static func groups(
        of itemClass: ItemClass, max: Int, in database: Database
    ) throws(StoreError) -> [[UInt8]]? {
        // Numbers, text and empty bytes come before every token.
        let damaged = try RowStatement(
            "SELECT 1 FROM item WHERE class = ? AND access_group <= x'' LIMIT 1", in: database)
        try damaged.bind(Int64(itemClass.number), at: 1)
        guard try !damaged.step() else { return nil }
        // Each step is one seek in the index of the groups.
        let next = try RowStatement(
            "SELECT min(access_group) FROM item WHERE class = ? AND access_group > ?", in: database)
        var groups: [[UInt8]] = []
        while true {
            try next.bind(Int64(itemClass.number), at: 1)
            try next.bind(groups.last ?? [], at: 2)
            guard try next.step(), let group = next.nullableBlob(0) else { return groups }
            guard groups.count < max else { return nil }
            groups.append(group)
            next.reset()
        }
    }

    /// Returns the opened record of a candidate, or nil if it does not match.
    static func matchingRecord(
        _ row: ItemRow, by search: ItemSearch, _ seal: RowSeal, withSecrets: Bool, withAttributes: Bool = true
    ) throws(RowSeal.Failure) -> ItemRecord? {
        let constraint = try seal.constraint(of: row)
        let match = try seal.open(row, constraint) { (fields) throws(RowDamage) -> ItemRecord? in
            if !withAttributes, search.isDecided(by: fields) {
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

    /// Completes the record of a candidate with constraints; nil if it does not match. A search
    /// that depends on the secrets does not match without them.
    private static func constrainedRecord(
        _ found: ItemRecord, _ constraint: EncodedConstraint, _ row: ItemRow, by search: ItemSearch, _ seal: RowSeal,
        withSecrets: Bool
    ) throws(RowSeal.Failure) -> ItemRecord? {
        var record = found
        record.needsAuthentication = constraint.record.constraints
        guard seal.use.keys != nil else { return search.needsSecrets ? nil : record }
        let secrets: ItemSecrets
        do throws(RowSeal.Failure) {
            secrets = try seal.openSecrets(of: row, constraint)
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
    func matches(
        of search: ItemSearch, handlesLocked: (ItemRow) -> Bool = { _ in false }
    ) throws(StoreError) -> [(ItemRow, ItemRecord)] {
        var matches: [(ItemRow, ItemRecord)] = []
        for part in search.parts {
            var hasLocked = false
            try forEachCandidate(of: part) { (row) throws(StoreError) in
                do throws(RowSeal.Failure) {
                    if let record = try Self.matchingRecord(row, by: part, seal, withSecrets: true) {
                        matches.append((row, record))
                    }
                } catch {
                    if case .closed = error, handlesLocked(row) {
                        hasLocked = true
                        return true
                    }
                    if case .derivationPending = error { return !seal.pending.isTooMany }
                    _ = try error.damage(of: row)  // A damaged row is skipped; a locked class is an error.
                }
                return true
            }
            if search.groupOrder == .firstGroupElseOthers, hasLocked || !matches.isEmpty || !seal.pending.isEmpty {
                break
            }
        }
        guard seal.pending.isEmpty else { throw .derivationPending }
        return matches
    }

    /// The memory of an item without its data, in bytes.
    static let itemLength = 1024
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
