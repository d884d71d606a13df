// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// A statement that is prepared once and used many times.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer

    init(_ handle: OpaquePointer, connection: OpaquePointer) {
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    // MARK: Parameters, counted from 1

    func bind(_ number: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(handle, index, number))
    }

    func bind(_ bytes: [UInt8]?, at index: Int32) throws {
        guard let bytes else { return try check(sqlite3_bind_null(handle, index)) }
        try check(
            bytes.withUnsafeBytes {
                sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), Self.transient)
            })
    }

    // MARK: Running

    /// Moves to the next row; false after the last one.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw failure()
        }
    }

    /// Runs a statement that returns no rows.
    func run() throws {
        defer { reset() }
        while try step() {}
    }

    /// Resets the statement for its next use, and ends its read transaction.
    func reset() {
        sqlite3_reset(handle)
    }

    // MARK: Columns, counted from 0

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    /// nil if the column is NULL.
    func blob(_ column: Int32) -> [UInt8]? {
        guard let start = sqlite3_column_blob(handle, column) else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Empty if the column is NULL.
    func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        return String(cString: text)
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw failure() }
    }

    private func failure() -> BenchmarkFailure {
        BenchmarkFailure(
            "sqlite: \(String(cString: sqlite3_errmsg(connection))) (code \(sqlite3_extended_errcode(connection)))")
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
