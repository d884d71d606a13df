// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import SQLiteConnections

/// Rows with constraints, by the content of the column. It is not authenticated here: use it only to find rows that
/// cannot be opened again.
enum ConstrainedRows {
    /// Deletes the rows with a matching constraint, also from quarantine.
    ///
    /// - Parameter includesDamaged: whether a constraint that does not decode matches.
    /// - Returns: the number of items.
    static func delete(
        in database: Database, includesDamaged: Bool = true, where isMatching: (ConstraintRecord) -> Bool
    ) throws(StoreError) -> Int {
        guard try DatabaseSchema.hasConstraints(database) else { return 0 }
        var count = 0
        for table in ["quarantine", "item"] {
            let positions = try positions(in: table, of: database, includesDamaged, where: isMatching).map(\.position)
            for position in positions {
                let removal = try RowStatement("DELETE FROM \(table) WHERE id = ?", in: database)
                try removal.bind(position, at: 1)
                try removal.run()
            }
            count = positions.count
        }
        return count
    }

    /// Returns the number of items that ``delete(in:where:)`` would delete, except those of some
    /// classes.
    static func count(
        in database: Database, except classes: Set<ProtectionClass> = [], includesDamaged: Bool = true,
        where isMatching: (ConstraintRecord) -> Bool
    ) throws(StoreError) -> Int {
        guard try DatabaseSchema.hasConstraints(database) else { return 0 }
        let excluded = Set(classes.map { Int64($0.number) })
        return try positions(in: "item", of: database, includesDamaged, where: isMatching).count {
            !excluded.contains($0.protection)
        }
    }

    private static func positions(
        in table: String, of database: Database, _ includesDamaged: Bool, where isMatching: (ConstraintRecord) -> Bool
    ) throws(StoreError) -> [(position: Int64, protection: Int64)] {
        let statement = try RowStatement(
            "SELECT id, protection, access_constraint FROM \(table) WHERE access_constraint IS NOT NULL", in: database)
        var found: [(position: Int64, protection: Int64)] = []
        while try statement.step() {
            let record = try? ConstraintRecord(decoding: statement.blob(2))
            if record.map(isMatching) ?? includesDamaged { found.append((statement.integer(0), statement.integer(1))) }
        }
        return found
    }
}
