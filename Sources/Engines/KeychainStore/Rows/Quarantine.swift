// SPDX-License-Identifier: Apache-2.0

internal import SQLiteConnections

/// The table of damaged rows. A damaged row is moved to it when an item is stored in its place, or
/// by a repair. It is kept, not trusted, and not read by any call.
enum Quarantine {
    /// Moves the row at this position of `item` to quarantine.
    static func move(_ position: Int64, in database: Database, _ columns: RowColumns) throws(StoreError) {
        let columns = columns.existing
        let copy = try RowStatement(
            "INSERT INTO quarantine (\(columns)) SELECT \(columns) FROM item WHERE id = ?", in: database)
        try copy.bind(position, at: 1)
        try copy.run()
        let removal = try RowStatement("DELETE FROM item WHERE id = ?", in: database)
        try removal.bind(position, at: 1)
        try removal.run()
    }

    static func empty(in database: Database) throws(StoreError) {
        try RowStatement("DELETE FROM quarantine", in: database).run()
    }

    static func count(in database: Database) throws(StoreError) -> Int {
        let statement = try RowStatement("SELECT count(*) FROM quarantine", in: database)
        _ = try statement.step()
        return Int(statement.integer(0))
    }
}
