// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite
internal import Keybag

/// A prepared statement of GRDB's cache, used through SQLite's C interface.
///
/// Only this type calls that interface: for one row, GRDB's `Row` costs several times as much as
/// the query. GRDB still owns the connection, the transaction and the statement. The bindings are
/// cleared when the value is released.
struct RowStatement: ~Copyable {
    private let statement: OpaquePointer
    private let connection: OpaquePointer

    init(_ sql: String, in database: Database) throws(StoreError) {
        let prepared: OpaquePointer
        do {
            prepared = try database.cachedStatement(sql: sql).sqliteStatement
        } catch {
            throw StoreError(error)
        }
        guard let open = database.sqliteConnection else {
            throw .database(code: SQLITE_MISUSE, message: "the connection is closed")
        }
        statement = prepared
        connection = open
        sqlite3_reset(prepared)
    }

    deinit {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }

    // MARK: Parameters, counted from 1

    func bind(_ number: Int64, at index: Int32) throws(StoreError) {
        try check(sqlite3_bind_int64(statement, index, number))
    }

    func bind(_ bytes: [UInt8]?, at index: Int32) throws(StoreError) {
        guard let bytes else { return try check(sqlite3_bind_null(statement, index)) }
        guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(statement, index, 0)) }
        try check(
            bytes.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), Self.transient)
            })
    }

    func bind(_ token: SearchToken, at index: Int32) throws(StoreError) {
        try check(
            token.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), Self.transient)
            })
    }

    /// Binds NULL, or a token. No statement writes a malformed one.
    func bind(_ column: TokenColumn, at index: Int32) throws(StoreError) {
        switch column {
        case .token(let token): try bind(token, at: index)
        case .null, .malformed: try check(sqlite3_bind_null(statement, index))
        }
    }

    // MARK: Running

    /// Moves to the next row; returns false after the last one.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw failure()
        }
    }

    /// Runs a statement that returns no rows, and returns the number of changed rows.
    @discardableResult
    func run() throws(StoreError) -> Int {
        while try step() {}
        return Int(sqlite3_changes(connection))
    }

    /// Makes the statement ready to run again, with the same parameters or with others.
    func reset() { sqlite3_reset(statement) }

    // MARK: Columns, counted from 0

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(statement, column)
    }

    /// Returns the number of a column; nil if it is NULL.
    func nullableInteger(_ column: Int32) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
    }

    /// Returns the bytes of a column; empty if it is NULL.
    func blob(_ column: Int32) -> [UInt8] {
        let count = Int(sqlite3_column_bytes(statement, column))
        guard count > 0, let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Returns the bytes of a column; nil if it is NULL.
    func nullableBlob(_ column: Int32) -> [UInt8]? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : blob(column)
    }

    func token(_ column: Int32) -> TokenColumn {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return .null }
        let count = Int(sqlite3_column_bytes(statement, column))
        let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
        return SearchToken(bytes).map { .token($0) } ?? .malformed
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw failure() }
    }

    private func failure() -> StoreError {
        .database(code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)))
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns. The cast is needed
    /// because Swift does not import the macro, which is -1 as a pointer to a function that is
    /// never called.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension StoreError {
    /// Creates a StoreError: `error` itself if it is one, or SQLite's code and message.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError:
            self = .database(
                code: error.extendedResultCode.rawValue, message: error.message ?? error.extendedResultCode.description)
        default: self = .database(code: SQLITE_ERROR, message: "\(error)")
        }
    }
}
