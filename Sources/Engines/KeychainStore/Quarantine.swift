// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// Where damaged rows go when something is stored in their place, or when they are moved by hand: not lost, not trusted, never read by a call.
enum Quarantine {
    /// Moves the row at this place of `item`.
    static func move(_ position: Int64, in database: Database) throws(StoreError) {
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

    private static let columns = ItemRow.columns.joined(separator: ", ")
}
