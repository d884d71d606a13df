// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// A connection through SQLite's C interface.
final class SQLiteConnection {
    private let handle: OpaquePointer

    init(path: String, isReadOnly: Bool = false) throws {
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        // Only this thread uses it: no mutex, as in Latchkey.
        let code = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let connection = opened else {
            sqlite3_close_v2(opened)
            throw BenchmarkFailure("sqlite: cannot open \(path) (code \(code))")
        }
        handle = connection
    }

    deinit {
        // Existing statements keep the connection open until they are finalized.
        sqlite3_close_v2(handle)
    }

    /// Runs statements and ignores their rows.
    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkFailure("sqlite: \(String(cString: sqlite3_errmsg(handle))): \(sql)")
        }
    }

    /// Prepares a statement for repeated use.
    func prepare(_ sql: String) throws -> SQLiteStatement {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let statement = prepared else {
            throw BenchmarkFailure("sqlite: \(String(cString: sqlite3_errmsg(handle))): \(sql)")
        }
        return SQLiteStatement(statement, connection: handle)
    }

    /// The position of the last row that was inserted into a table with positions.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// SQLite's own version.
    static var version: String { String(cString: sqlite3_libversion()) }
}
