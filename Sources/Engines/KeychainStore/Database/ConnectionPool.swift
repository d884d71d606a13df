// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Dispatch
internal import LinuxSystem
internal import SQLiteConnections

/// The connections of one process to the database. All are equal, are opened on demand, and each is
/// used by one thread at a time.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [Database] = []
        var isClosed = false
        /// The state of the read-only database when the idle connections were opened; nil if the database is writable.
        var database: ReadOnlyDatabase.State?
    }

    private let state = SystemMutex(State())
    private let count: Int
    private let free: DispatchSemaphore
    /// Serializes the writers of this process, fairly and without polling. Writers of other
    /// processes wait in SQLite's busy handler.
    private let writing = DispatchSemaphore(value: 1)
    /// Opens a connection. The parameter is the state of a read-only database.
    private let open: @Sendable (ReadOnlyDatabase.State?) throws(StoreError) -> Database
    /// The file of the connections; nil in memory.
    private let file: (path: String, identity: FileStatus.Identity?)?
    /// The storage account of the user; nil for no limit.
    private let account: StorageAccount?
    /// nil if the database is writable.
    private let readOnly: ReadOnlyDatabase?
    /// nil in memory, and for a database that cannot be written.
    let reserve: DiskReserve?

    /// Creates connections to the existing file at `path`.
    ///
    /// - Parameter account: the storage account of the user; nil for no limit.
    init(path: String, account: StorageAccount? = nil) {
        count = Self.maxCount
        free = DispatchSemaphore(value: count)
        open = { (_) throws(StoreError) in try Self.writable(path) }
        file = (path, Self.identity(of: path))
        self.account = account
        reserve = DiskReserve(of: path, account)
        readOnly = nil
        ForkGuard.shared.watch(self)
    }

    /// Creates connections to a file that cannot be written.
    init(_ readOnly: ReadOnlyDatabase) {
        count = Self.maxCount
        free = DispatchSemaphore(value: count)
        open = { (state) throws(StoreError) in try Self.unwritable(readOnly, in: state ?? .logged) }
        file = (readOnly.path, Self.identity(of: readOnly.path))
        account = nil
        reserve = nil
        self.readOnly = readOnly
        ForkGuard.shared.watch(self)
    }

    /// Creates the only connection of a database in memory.
    init(inMemory: Void) throws(StoreError) {
        count = 1
        free = DispatchSemaphore(value: count)
        let only = try Self.writable(":memory:")
        state.withLock { $0.idle = [only] }
        open = { (_) throws(StoreError) in throw .closed }
        file = nil
        account = nil
        reserve = nil
        readOnly = nil
    }

    var isReadOnly: Bool { readOnly != nil }
    /// Whether this process changes nothing by its own choice.
    var isInspected: Bool { readOnly?.isInspected ?? false }

    /// - Throws: ``StoreError/readOnly(path:)``.
    func requireWritable() throws(StoreError) {
        if let readOnly { throw .readOnly(path: readOnly.path) }
    }

    /// Runs
    /// `body` on one consistent state of the database. The first transaction of all processes makes the index of the log. A full disk has no space for it; then the reserve is used, and `body`
    /// runs again.
    func read<Result>(_ body: (Database) throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) {
            return try readOnce(body)
        } catch {
            guard error.isFull, reserve?.release() == true else { throw error }
            return try readOnce(body)
        }
    }

    private func readOnce<Result>(_ body: (Database) throws(StoreError) -> Result) throws(StoreError) -> Result {
        if let shared = SharedRead.current(of: self) { return try body(shared.database) }
        return try withOwnConnection { (database) throws(StoreError) -> Result in
            try RowStatement("BEGIN DEFERRED", in: database).run()
            // This transaction has written nothing, so an error of COMMIT loses nothing.
            defer { _ = try? RowStatement("COMMIT", in: database).run() }
            return try body(database)
        }
    }

    /// Runs `body` in one transaction. When this returns, all changes are durable; when it throws,
    /// nothing has changed.
    ///
    /// - Parameter isDeletion: whether the reserve is used if the disk is full; then `body` runs again.
    func write<Result>(
        isDeletion: Bool = false, _ body: (Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try requireWritable()
        guard isDeletion else {
            try reserve?.require()
            return try chargedTransaction(body)
        }
        do throws(StoreError) {
            return try chargedTransaction(body)
        } catch {
            guard error.isFull else { throw error }
            // The reserve may be in use already. The encrypted pages of a large item are not overwritten: the log would
            // be as large.
            _ = reserve?.release()
            return try chargedTransaction { (database) throws(StoreError) -> Result in
                _ = try RowStatement("PRAGMA secure_delete = FAST", in: database).step()
                defer { _ = try? RowStatement("PRAGMA secure_delete = ON", in: database).step() }
                return try body(database)
            }
        }
    }

    private func chargedTransaction<Result>(
        _ body: (Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard let account, let file else {
            return try exclusively { (database) throws(StoreError) in try transaction(in: database, body) }
        }
        let path = file.path
        return try account.whileChanging(path, measure: { Self.size(path) }) { (left) throws(StoreError) -> Result in
            try exclusively { (database) throws(StoreError) -> Result in
                let before = Self.size(path)
                let growth = left + (try shortenLog(in: database, path, left, account))
                try limit(database, growth: growth)
                let result = try transaction(in: database, body)
                // The space left may be less than the log, or than the log beside the pages that were copied from it.
                if Self.logLength(path) > growth || Self.size(path) - before > left { try? emptyLog(in: database) }
                return result
            }
        }
    }

    private func transaction<Result>(
        in database: Database, _ body: (Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try database.transaction(onDatabaseError: StoreError.init(_:)) { () throws(StoreError) in
            try requireFile()
            return try body(database)
        }
    }

    /// Runs `body` outside of any transaction, while no other thread of this process writes.
    @discardableResult
    func exclusively<Result>(_ body: (Database) throws(StoreError) -> Result) throws(StoreError) -> Result {
        // Threads that each share a connection and wait for another one would not end.
        if let shared = SharedRead.current(of: self) { throw shared.end() }
        writing.wait()
        defer { writing.signal() }
        return try withOwnConnection(body)
    }

    /// Closes the idle connections now, and each connection in use when it is returned. Later calls
    /// throw ``StoreError/closed``.
    func close() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            state.isClosed = true
            return state.idle
        }
        for connection in idle { connection.close() }
    }

    /// Empties SQLite's log if it is longer than the space left to the user. Overlapping readers would let it grow
    /// without limit.
    ///
    /// - Returns: the bytes that this has made free.
    private func shortenLog(
        in database: Database, _ path: String, _ growth: Int, _ account: StorageAccount
    ) throws(StoreError) -> Int {
        guard Self.logLength(path) > growth else { return 0 }
        // The new pages of the log are in the database afterwards: only the difference is free.
        let before = Self.size(path)
        try emptyLog(in: database)
        guard Self.logLength(path) <= max(growth, min(account.maxBytes, Self.maxLogLength)) else {
            throw .quota("the keychain's write-ahead log has its maximum length, and is in use by readers")
        }
        return max(0, before - Self.size(path))
    }

    private func emptyLog(in database: Database) throws(StoreError) {
        // Do not wait for readers. A later write finds the log free.
        try RowStatement("PRAGMA busy_timeout = 0", in: database).run()
        defer { _ = try? RowStatement("PRAGMA busy_timeout = \(Self.busyTimeout)", in: database).run() }
        let statement = try RowStatement("PRAGMA wal_checkpoint(TRUNCATE)", in: database)
        while try statement.step() {}
    }

    /// Lets the database grow by so many bytes at most. It always keeps its present size.
    private func limit(_ database: Database, growth: Int) throws(StoreError) {
        let (size, count) = (try Self.number("page_size", in: database), try Self.number("page_count", in: database))
        guard size > 0 else { return }
        do throws(DatabaseError) {
            // Not kept as a statement: the numbers are without end.
            try database.execute("PRAGMA max_page_count = \(count + Int64(growth) / size)")
        } catch {
            throw StoreError(error)
        }
    }

    /// Ends the growth of a database within its running change, except for some pages: the files of the user get the
    /// rest of the space.
    func endGrowth(of database: Database) throws(StoreError) {
        guard let account else { return }
        let (size, count) = (try Self.number("page_size", in: database), try Self.number("page_count", in: database))
        let rest = try Self.number("max_page_count", in: database) - count - Self.spareCount
        guard size > 0, rest > 0 else { return }
        try limit(database, growth: Int(Self.spareCount * size))
        account.releaseGrant(Int(clamping: rest.multipliedReportingOverflow(by: size).partialValue))
    }

    /// The pages that a change may still need after its items.
    private static let spareCount: Int64 = 16

    private static func number(_ name: String, in database: Database) throws(StoreError) -> Int64 {
        let statement = try RowStatement("PRAGMA \(name)", in: database)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// Tells the account how long the database is, after its log was emptied.
    func recordSize() {
        guard let account, let file else { return }
        account.update(file.path) { Self.size(file.path) }
    }

    /// The length of a database, its log and its reserve, in bytes.
    static func size(_ path: String) -> Int {
        Int(clamping: ((try? FileStatus.of(path)) ?? nil)?.size ?? 0) + logLength(path)
            + Int(clamping: ((try? FileStatus.of(DiskReserve.path(of: path))) ?? nil)?.size ?? 0)
    }

    private static func logLength(_ path: String) -> Int {
        Int(clamping: ((try? FileStatus.of("\(path)-wal")) ?? nil)?.size ?? 0)
    }

    /// The length of a log that readers keep from being emptied.
    private static let maxLogLength = 4 << 20

    /// Throws ``StoreError/replaced(path:)`` if the file was deleted or replaced. No other process would see data
    /// written to it.
    func requireFile() throws(StoreError) {
        guard let file, Self.identity(of: file.path) != file.identity else { return }
        throw .replaced(path: file.path)
    }

    private static func identity(of path: String) -> FileStatus.Identity? {
        (try? FileStatus.ofLink(path))??.identity
    }

    // MARK: Fork

    /// Waits until no connection is in use, and closes them all, so that a child process inherits
    /// none. ``resume()`` must follow.
    ///
    /// SQLite keeps the locks of a process in memory, and fork(2) copies them. If the child opened the same file,
    /// SQLite would assume locks that only the parent holds, and the child could commit to a log that another process
    /// has deleted.
    func pause() {
        for _ in 0..<count { free.wait() }
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for connection in idle { connection.close() }
    }

    func resume() {
        for _ in 0..<count { free.signal() }
    }

    /// Runs `body` outside of any transaction, or in the one that the reads of this thread share.
    func withConnection<Result>(_ body: (Database) throws(StoreError) -> Result) throws(StoreError) -> Result {
        if let shared = SharedRead.current(of: self) { return try body(shared.database) }
        return try withOwnConnection(body)
    }

    /// Whether reads can share a transaction: there are several connections, and the file is not one that is
    /// compared after each read.
    var canShare: Bool { file != nil && readOnly == nil }

    /// Runs `body` with a connection that is open and free.
    ///
    /// - Returns: nil if there is none.
    func withFreeConnection<Result>(
        _ body: (Database) throws(StoreError) -> Result?
    ) throws(StoreError) -> Result? {
        guard free.wait(timeout: .now()) == .success else { return nil }
        defer { free.signal() }
        guard state.withLock({ !$0.idle.isEmpty }) else { return nil }
        return try withConnection(in: nil, body)
    }

    /// Runs `body` with a connection that no other call uses, outside of any transaction.
    func withOwnConnection<Result>(_ body: (Database) throws(StoreError) -> Result) throws(StoreError) -> Result {
        free.wait()
        defer { free.signal() }
        guard let readOnly else { return try withConnection(in: nil, body) }
        let state = try readOnly.state()
        let result = Swift.Result { () throws(StoreError) in try withConnection(in: state, body) }
        // The result, or the error, may depend on two different states of the file.
        guard readOnly.isUnchanged(state) else { throw .changedDuringRead(path: readOnly.path) }
        do throws(StoreError) {
            return try result.get()
        } catch {
            // SQLITE_BUSY, SQLITE_LOCKED
            guard readOnly.isInspected, case .database(let code, _) = error, [5, 6].contains(code & 0xFF) else {
                throw error
            }
            throw .inUse
        }
    }

    private func withConnection<Result>(
        in database: ReadOnlyDatabase.State?, _ body: (Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let connection = try checkOut(database)
        defer { returnConnection(connection, database) }
        return try body(connection)
    }

    /// Returns an idle connection that was opened in this state of the database, or a new one.
    private func checkOut(_ database: ReadOnlyDatabase.State?) throws(StoreError) -> Database {
        let (idle, outdated, isClosed) = state.withLock { state in
            var outdated: [Database] = []
            if state.database != database {
                swap(&outdated, &state.idle)
                state.database = database
            }
            return (state.idle.popLast(), outdated, state.isClosed)
        }
        for connection in outdated { connection.close() }
        guard !isClosed else { throw .closed }
        if let idle { return idle }
        return try open(database)
    }

    private func returnConnection(_ connection: Database, _ database: ReadOnlyDatabase.State?) {
        // A transaction that could not be ended would keep its locks, and include the writes of the next call.
        let isUsable = !connection.isInsideTransaction
        let isKept = state.withLock { state in
            let isKept = isUsable && !state.isClosed && state.database == database
            if isKept { state.idle.append(connection) }
            return isKept
        }
        if !isKept { connection.close() }
    }

    /// The time that a transaction waits for transactions of other processes, in milliseconds.
    static let busyTimeout: Int32 = 60_000
    /// The same for an inspection, in milliseconds. An inspection opens the database several times.
    private static let inspectionTimeout: Int32 = 1_000
    private static let maxCount = 4

    private static func writable(_ name: String) throws(StoreError) -> Database {
        do throws(DatabaseError) {
            // Other processes also write. A transaction takes milliseconds: after waiting a minute,
            // assume that one is stuck.
            return try Database(
                name, busyTimeout: busyTimeout,
                settings: """
                    PRAGMA synchronous = FULL;
                    PRAGMA secure_delete = ON;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    """, isDefensive: true)
        } catch {
            throw StoreError(error)
        }
    }

    private static func unwritable(
        _ file: ReadOnlyDatabase, in state: ReadOnlyDatabase.State
    ) throws(StoreError) -> Database {
        do throws(DatabaseError) {
            // Programs that write through another mount hold the lock only briefly.
            return try Database(
                file.uri(in: state), .readOnlyURI, busyTimeout: file.isInspected ? inspectionTimeout : busyTimeout,
                settings: "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
                isDefensive: true)
        } catch {
            throw StoreError(error)
        }
    }
}
