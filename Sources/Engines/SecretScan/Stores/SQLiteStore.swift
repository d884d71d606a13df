// SPDX-License-Identifier: Apache-2.0

internal import SQLiteConnections

/// The values of the tables of a SQLite database.
struct SQLiteStore: RecordStore {
    private let image: [UInt8]

    /// The instructions of SQLite's machine for one table.
    private static let maxInstructions = 200_000_000

    init(_ bytes: [UInt8]) { image = SQLiteImage.bytes(bytes, log: []) }

    init(_ bytes: [UInt8], log: [UInt8]) { image = SQLiteImage.bytes(bytes, log: log) }

    func forEach(limit: Int, _ body: (StoredValue) -> Void) throws(RecordError) {
        var rest = limit
        do throws(DatabaseError) {
            let database = try Database(image: image)
            for table in try Self.tables(of: database) {
                try database.limiting(toInstructions: Self.maxInstructions) { () throws(DatabaseError) in
                    try Self.forEachValue(of: table, in: database, &rest, body)
                }
                if rest == 0 { break }
            }
        } catch { throw RecordError(reason: "the SQLite database cannot be read: \(error)") }
        if rest == 0 { throw RecordError(reason: "the values are longer than the limit") }
    }

    private static func tables(of database: Database) throws(DatabaseError) -> [String] {
        let statement = try Statement(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
            in: database)
        var names: [String] = []
        while try statement.step() { names.append(String(decoding: statement.bytes(0), as: UTF8.self)) }
        return names
    }

    private static func forEachValue(
        of table: String, in database: Database, _ rest: inout Int, _ body: (StoredValue) -> Void
    ) throws(DatabaseError) {
        let statement = try Statement("SELECT * FROM \"\(table.replacing("\"", with: "\"\""))\"", in: database)
        let columns = statement.columnNames
        var row = 0
        while try statement.step() {
            row += 1
            // In a table of names and values, such as a table of settings, the name is in another column.
            let rowName = columns.indices.first { names.contains(columns[$0].lowercased()) }
                .map { String(decoding: statement.bytes(Int32($0)), as: UTF8.self) }
            for (index, column) in columns.enumerated() where statement.isTextOrBlob(Int32(index)) {
                let value = statement.bytes(Int32(index))
                guard value.count <= rest else {
                    rest = 0
                    return
                }
                rest -= value.count
                let isValue = values.contains(column.lowercased())
                let name = isValue ? rowName ?? column : column
                body(StoredValue(name: name, path: "\(table).\(column) row \(row)", value: value))
            }
        }
    }

    private static let names: Set<String> = [
        "name", "key", "setting", "option", "option_name", "property", "field", "id",
    ]
    private static let values: Set<String> = ["value", "val", "data", "option_value", "content", "setting_value"]
}
