// SPDX-License-Identifier: Apache-2.0

internal import CSQLiteCalls

/// The use of a statement: its parameters, and its rows. When the value is released, the statement is reset, its
/// parameters are cleared, and the next value with the same text takes it.
public struct Statement: ~Copyable {
    private let prepared: PreparedStatement
    private let handle: OpaquePointer

    /// - Parameter sql: exactly one statement.
    public init(_ sql: String, in database: Database) throws(DatabaseError) {
        prepared = try database.prepared(sql)
        handle = prepared.handle
        prepared.isInUse = true
    }

    deinit {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        prepared.isInUse = false
    }

    // MARK: Parameters, counted from 1

    public func bind(_ number: Int64, at index: Int32) throws(DatabaseError) {
        try check(sqlite3_bind_int64(handle, index, number))
    }

    public func bindNull(at index: Int32) throws(DatabaseError) { try check(sqlite3_bind_null(handle, index)) }

    /// Binds a copy of the bytes. SQLite frees the copy with the statement's other parameters.
    public func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        // Without an address the value would be NULL.
        guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
        try check(sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), Self.transient))
    }

    // MARK: Running

    /// Moves to the next row; returns false after the last one.
    public func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw failure()
        }
    }

    /// Runs a statement to its end, and returns the number of rows that the last change of the connection has changed.
    @discardableResult
    public func run() throws(DatabaseError) -> Int {
        while try step() {}
        return Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    /// Makes the statement ready to run again, with the same parameters or with others.
    public func reset() { sqlite3_reset(handle) }

    // MARK: Columns, counted from 0

    /// The names of the columns.
    public var columnNames: [String] {
        (0..<sqlite3_column_count(handle)).map { column in
            sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
        }
    }

    public func isTextOrBlob(_ column: Int32) -> Bool {
        [SQLITE_TEXT, SQLITE_BLOB].contains(sqlite3_column_type(handle, column))
    }

    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Returns a copy of the bytes of a column; empty if it is NULL.
    public func bytes(_ column: Int32) -> [UInt8] { Array(unsafeBytes(column)) }

    /// The bytes of a column, without a copy; none if it is NULL. Unsafe, because they are SQLite's own: they are valid
    /// until the next step, and only while the statement is not reset or released.
    public func unsafeBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let count = Int(sqlite3_column_bytes(handle, column))
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw failure() }
    }

    private func failure() -> DatabaseError { DatabaseError(of: sqlite3_db_handle(handle)) }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns. The cast is needed because Swift does not
    /// import the macro: -1 as a pointer to a function that is never called.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
