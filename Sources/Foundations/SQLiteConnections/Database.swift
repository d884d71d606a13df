// SPDX-License-Identifier: Apache-2.0

internal import CSQLiteCalls

/// A connection to a database. One thread at a time uses it, and its calls run in that thread: SQLite locks no mutex
/// for it.
public final class Database: @unchecked Sendable {  // because its owner gives it to one thread at a time
    /// nil after ``close()``.
    private(set) var connection: OpaquePointer?
    /// The statements that were used so far, by their text.
    private var statements: [String: PreparedStatement] = [:]
    private let busyTimeout: Int32

    public enum Access: Sendable {
        /// Reads and writes the file, and creates it if it does not exist.
        case readWrite
        /// Reads the file. The file must exist.
        case readOnly
        /// Reads the file that a URI names, as its parameters say (https://www.sqlite.org/uri.html).
        case readOnlyURI
    }

    /// Opens a connection, and reads the schema, so that a file that is no database is refused here.
    ///
    /// - Parameters:
    ///   - name: the path or the URI; ":memory:" for a new database in memory.
    ///   - busyTimeout: how long a statement waits for the locks of other connections, in milliseconds.
    ///   - settings: SQL that runs first.
    ///   - isDefensive: whether SQL cannot damage the structure of the file.
    public init(
        _ name: String, _ access: Access = .readWrite, busyTimeout: Int32 = 0, settings: String = "",
        isDefensive: Bool = false
    ) throws(DatabaseError) {
        let flags =
            switch access {
            case .readWrite: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readOnly: SQLITE_OPEN_READONLY
            case .readOnlyURI: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        self.busyTimeout = busyTimeout
        let code = sqlite3_open_v2(name, &connection, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let connection else {
            let extended = connection.map(sqlite3_extended_errcode) ?? code
            throw DatabaseError(code: extended, message: String(cString: sqlite3_errstr(extended)))
        }
        try check(sqlite3_extended_result_codes(connection, 1), connection)
        try check(sqlite3_busy_timeout(connection, busyTimeout), connection)
        try check(CSQLiteCalls_forbid_quoted_strings(connection), connection)
        try execute(settings)
        if isDefensive { try check(CSQLiteCalls_defend(connection), connection) }
        try execute("SELECT * FROM sqlite_schema LIMIT 1")
    }

    /// Opens a copy of a database's bytes, which nothing can change. The bytes may be untrusted: SQL in the schema cannot
    /// call functions with side effects.
    public init(image: [UInt8]) throws(DatabaseError) {
        busyTimeout = 0
        let code = sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let connection else { throw DatabaseError(code: code, message: "no memory database") }
        try check(sqlite3_extended_result_codes(connection, 1), connection)
        try check(CSQLiteCalls_defend(connection), connection)
        try execute("PRAGMA trusted_schema = 0; PRAGMA cell_size_check = 1")
        // SQLite frees this copy, also if the call fails.
        guard let copy = sqlite3_malloc64(UInt64(image.count)) else {
            throw DatabaseError(code: SQLITE_NOMEM, message: "not enough memory")
        }
        image.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
        }
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
        try check(
            sqlite3_deserialize(
                connection, "main", copy.assumingMemoryBound(to: UInt8.self), Int64(image.count), Int64(image.count),
                flags),
            connection)
        try execute("SELECT * FROM sqlite_schema LIMIT 1")
    }

    deinit { close() }

    /// Closes the connection. Later calls throw an error.
    public func close() {
        // SQLite closes it with its last statement.
        statements = [:]
        sqlite3_close_v2(connection)
        connection = nil
    }

    /// Runs statements that are separated by semicolons, and ignores their rows.
    public func execute(_ sql: String) throws(DatabaseError) {
        guard let connection else { throw .closed }
        try check(sqlite3_exec(connection, sql, nil, nil, nil), connection)
    }

    /// The row that was inserted last; 0 for none.
    public var lastInsertedRowID: Int64 { connection.map(sqlite3_last_insert_rowid) ?? 0 }

    /// The number of rows that this connection has inserted, changed and deleted.
    public var totalChangesCount: Int { Int(connection.map(sqlite3_total_changes) ?? 0) }

    public var isInsideTransaction: Bool { connection.map(sqlite3_get_autocommit) == 0 }

    /// Runs `body`. In it, a statement fails instead of waiting for a lock, and if all statements together exceed a
    /// number of instructions of SQLite's machine. A row takes about fifty.
    public func limiting<Result, Failure: Error>(
        toInstructions count: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let connection else { return try body() }
        sqlite3_busy_timeout(connection, 0)
        defer { sqlite3_busy_timeout(connection, busyTimeout) }
        var turns = count / Int(Self.instructionsPerTurn)
        return try withUnsafeMutablePointer(to: &turns) { (turns) throws(Failure) in
            sqlite3_progress_handler(
                connection, Self.instructionsPerTurn,
                { context in
                    guard let turns = context?.assumingMemoryBound(to: Int.self) else { return 1 }
                    turns.pointee -= 1
                    return turns.pointee < 0 ? 1 : 0
                }, turns)
            defer { sqlite3_progress_handler(connection, 0, nil, nil) }
            return try body()
        }
    }

    /// How often SQLite calls its handler.
    private static let instructionsPerTurn: Int32 = 500

    /// Compiles a statement, or returns one that was compiled before and is not used now.
    func prepared(_ sql: String) throws(DatabaseError) -> PreparedStatement {
        guard let connection else { throw .closed }
        guard let known = statements[sql] else {
            let new = try PreparedStatement(sql, in: connection)
            statements[sql] = new
            return new
        }
        return known.isInUse ? try PreparedStatement(sql, in: connection) : known
    }

    private func check(_ code: Int32, _ connection: OpaquePointer) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw DatabaseError(of: connection) }
    }
}
