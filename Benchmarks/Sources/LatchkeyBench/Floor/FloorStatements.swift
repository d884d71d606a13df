// SPDX-License-Identifier: Apache-2.0

/// The floor's statements, prepared once.
struct FloorStatements {
    let begin: SQLiteStatement
    let commit: SQLiteStatement
    let rollback: SQLiteStatement
    /// The parameters of the three searches: class, the tokens in the order of the name, access
    /// group.
    let selectByAccountAndService: SQLiteStatement
    let selectByAccount: SQLiteStatement
    let selectByService: SQLiteStatement
    let insert: SQLiteStatement
    let insertLookup: SQLiteStatement
    let update: SQLiteStatement
    let delete: SQLiteStatement

    init(_ connection: SQLiteConnection) throws {
        let columns = FloorRow.columns.joined(separator: ", ")
        let marks = FloorRow.columns.map { _ in "?" }.joined(separator: ", ")
        let assignments = FloorRow.columns.map { "\($0) = ?" }.joined(separator: ", ")
        // The plus signs prevent SQLite from using the group's index, and IS NULL lets it use all
        // columns of the compound index.
        func select(_ condition: String) throws -> SQLiteStatement {
            try connection.prepare(
                """
                SELECT id, \(columns) FROM item
                WHERE +class = ? AND \(condition) AND +access_group = ? AND sync = 0 AND tombstone = 0 ORDER BY id
                """)
        }
        begin = try connection.prepare("BEGIN IMMEDIATE")
        commit = try connection.prepare("COMMIT")
        rollback = try connection.prepare("ROLLBACK")
        selectByAccountAndService = try select("acct = ? AND svce = ? AND srvr IS NULL")
        selectByAccount = try select("acct = ? AND srvr IS NULL")
        selectByService = try select("svce = ?")
        insert = try connection.prepare("INSERT INTO item (\(columns)) VALUES (\(marks))")
        insertLookup = try connection.prepare("INSERT INTO lookup (token, item) VALUES (?, ?)")
        update = try connection.prepare("UPDATE item SET \(assignments) WHERE id = ?")
        delete = try connection.prepare("DELETE FROM item WHERE id = ?")
    }
}
