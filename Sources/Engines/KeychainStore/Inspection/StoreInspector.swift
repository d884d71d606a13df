// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import SQLiteConnections

/// Counting, examining and repairing the rows of a keychain.
public struct StoreInspector {
    let store: KeychainStore

    /// Returns the number of items by class and protection class, without the class keys of files.
    public func counts() throws(StoreError) -> [KeychainStatus.Count] {
        try store.read { (database, seal) throws(StoreError) in
            // Counted here: SQLite would sort all rows in memory, to group them.
            let statement = try RowStatement(
                """
                SELECT class << 8 | protection FROM item WHERE tombstone = 0 AND access_group <> ?
                AND class BETWEEN 0 AND 255 AND protection BETWEEN 0 AND 255
                """,
                in: database)
            try statement.bind(seal.tokens.group(.files), at: 1)
            var numbers: [Int64: Int] = [:]
            while try statement.step() { numbers[statement.integer(0), default: 0] += 1 }
            return numbers.sorted { $0.key < $1.key }.compactMap { key, count in
                guard let itemClass = UInt8(exactly: key >> 8).flatMap({ ItemClass(number: $0) }),
                    let protection = UInt8(exactly: key & 0xFF).flatMap({ ProtectionClass(number: $0) })
                else { return nil }
                return KeychainStatus.Count(itemClass: itemClass, protection: protection, count: count)
            }
        }
    }

    public func quarantinedRows() throws(StoreError) -> Int {
        try store.read { (database, _) throws(StoreError) in try Quarantine.count(in: database) }
    }

    /// Opens both halves of every row, except the secret half of a row with constraints, and runs
    /// SQLite's integrity check. Rows of locked classes are counted, not opened.
    ///
    /// - Parameter progress: called with the number of inspected rows.
    public func inspect(progress: (Int) -> Void = { _ in }) throws(StoreError) -> StoreInspection {
        try store.read { (database, seal) throws(StoreError) in
            var inspection = StoreInspection()
            let check = try RowStatement("PRAGMA integrity_check", in: database)
            while try check.step() { inspection.structure.append(String(decoding: check.blob(0), as: UTF8.self)) }
            inspection.structure.removeAll { $0 == "ok" }
            try store.items(database, seal).forEachRow { (position, row) throws(StoreError) in
                inspection.rows += 1
                progress(inspection.rows)
                switch Self.condition(of: row, seal) {
                case .whole(let record):
                    guard let record, try Self.lacksTokens(row, record, in: database, seal) else { return }
                    inspection.damaged.append(
                        DamagedRow(identifier: record.identifier, reason: "its lookup tokens do not match"))
                case .closed: inspection.closed += 1
                case .damaged(let damage): inspection.damaged.append(damage)
                }
            }
            inspection.quarantined = try Quarantine.count(in: database)
            return inspection
        }
    }

    /// Moves every damaged row to quarantine, and writes missing lookup tokens; or empties the
    /// quarantine. Rows of locked classes stay.
    ///
    /// - Returns: the number of repaired or deleted rows; in a dry run, the number that would be.
    public func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void = { _ in }) throws(StoreError)
        -> Int
    {
        switch action {
        case .moveDamaged:
            func find(_ database: Database, _ seal: RowSeal) throws(StoreError) -> [Repair] {
                var repairs: [Repair] = []
                var count = 0
                try store.items(database, seal).forEachRow { (position, row) throws(StoreError) in
                    count += 1
                    progress(count)
                    switch Self.condition(of: row, seal) {
                    case .damaged: repairs.append(.quarantine(position))
                    case .whole(let record):
                        guard let record, try Self.lacksTokens(row, record, in: database, seal) else { return }
                        repairs.append(.tokens(position, seal.tokens.lookup(of: record)))
                    case .closed: break
                    }
                }
                return repairs
            }
            if dryRun { return try store.read(.none, find).count }
            return try store.write { (database, seal) throws(StoreError) in
                let repairs = try find(database, seal)
                for repair in repairs {
                    switch repair {
                    case .quarantine(let position): try Quarantine.move(position, in: database, seal.columns)
                    case .tokens(let position, let tokens):
                        try LookupTable.replace(tokens, of: position, in: database)
                    }
                }
                return repairs.count
            }
        case .emptyQuarantine:
            if dryRun { return try quarantinedRows() }
            return try store.write(isDeletion: true) { (database, _) throws(StoreError) in
                let count = try Quarantine.count(in: database)
                try Quarantine.empty(in: database)
                return count
            }
        }
    }

    /// The change that makes a row usable again.
    private enum Repair {
        case quarantine(Int64)
        case tokens(Int64, [SearchToken])
    }

    /// Whether the lookup tokens of a row are not those of its attributes, so that a search may miss it.
    private static func lacksTokens(
        _ row: ItemRow?, _ record: ItemRecord, in database: Database, _ seal: RowSeal
    ) throws(StoreError) -> Bool {
        guard let row, seal.columns.hasLookup, row.isIndexed, record.itemClass.isPassword else { return false }
        return try LookupTable.tokens(of: row.position, in: database) != Set(seal.tokens.lookup(of: record))
    }

    private enum Condition {
        /// With the record, where it is known.
        case whole(ItemRecord?)
        case closed
        case damaged(DamagedRow)
    }

    private static func condition(of row: ItemRow?, _ seal: RowSeal) -> Condition {
        guard let row else {
            return .damaged(DamagedRow(identifier: nil, reason: "a plaintext column has an invalid value"))
        }
        do throws(RowSeal.Failure) {
            return .whole(try seal.verify(row))
        } catch {
            switch error {
            case .damaged(let damage):
                return .damaged(DamagedRow(identifier: row.clear.identifier, reason: damage.reason))
            case .closed: return .closed
            // Not thrown without constraints that are satisfied.
            case .needsAuthentication, .lost, .wrongApplicationPassword, .derivationPending: return .whole(nil)
            }
        }
    }
}
