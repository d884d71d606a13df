// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import SQLiteConnections
import Testing

/// The default settings of every connection.
@Suite("Connections to a database")
struct DatabaseTests {
    private let directory: TemporaryDirectory
    private var path: String { "\(directory.path)/a.db" }

    init() throws { directory = try TemporaryDirectory() }

    private func texts(_ sql: String, in database: Database) throws -> [String] {
        let statement = try Statement(sql, in: database)
        var texts: [String] = []
        while try statement.step() { texts.append(String(decoding: statement.bytes(0), as: UTF8.self)) }
        return texts
    }

    /// The code of the error that `body` throws; nil if it throws none.
    private func code(_ body: () throws -> Void) -> Int32? {
        do { try body() } catch { return (error as? DatabaseError)?.code ?? -1 }
        return nil
    }

    // MARK: Opening and closing

    @Test("Opening a connection to a file that is no database fails with SQLite's extended code")
    func refused() throws {
        try Data(repeating: 0x61, count: 4096).write(to: URL(filePath: path))
        // SQLITE_NOTADB; SQLITE_CANTOPEN for a directory that is missing, SQLITE_CANTOPEN_ISDIR for a directory.
        #expect(code { _ = try Database(path) } == 26)
        #expect(code { _ = try Database("\(directory.path)/none/a.db") } == 14)
        #expect([14, 526].contains(code { _ = try Database(directory.path) }))
        #expect {
            _ = try Database("\(directory.path)/none/a.db")
        } throws: { error in
            (error as? DatabaseError)?.message == "unable to open database file"
        }
    }

    @Test("A connection for reading neither creates nor changes a file")
    func readOnly() throws {
        #expect(code { _ = try Database(path, .readOnly) } == 14)
        #expect(code { _ = try Database("file://\(path)", .readOnlyURI) } == 14)
        try Database(path).execute("CREATE TABLE t (x)")
        for database in [
            try Database(path, .readOnly), try Database("file://\(path)", .readOnlyURI),
            try Database("file://\(path)?immutable=1", .readOnlyURI),
        ] {
            // SQLITE_READONLY
            #expect(code { try database.execute("INSERT INTO t VALUES (1)") } == 8)
            #expect(try texts("SELECT count(*) FROM t", in: database) == ["0"])
        }
        #expect(try directory.files().keys.sorted() == ["a.db"])
    }

    @Test("A closed connection and one that is released let go of the file; every later call throws an error")
    func closing() throws {
        func isOpen() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return target == path
            }
        }
        let database = try Database(path)
        try database.execute("CREATE TABLE t (x)")
        #expect(try texts("SELECT count(*) FROM t", in: database) == ["0"] && isOpen(), "with a kept statement")
        database.close()
        database.close()
        #expect(try !isOpen() && !database.isInsideTransaction)
        // SQLITE_MISUSE
        #expect(code { _ = try Statement("SELECT 1", in: database) } == 21)
        #expect(code { try database.execute("SELECT 1") } == 21)
        #expect(code { try database.transaction(onDatabaseError: { $0 as any Error }) {} } == 21)
        _ = try Database(path).execute("INSERT INTO t VALUES (1)")
        #expect(try !isOpen())
        // A statement that is in use keeps the file open, and is valid.
        do {
            let other = try Database(path)
            let statement = try Statement("SELECT x FROM t", in: other)
            other.close()
            let hasRow = try statement.step()
            #expect(try hasRow && isOpen())
        }
        #expect(try !isOpen())
    }

    @Test("The settings run first; text in double quotes is a name, and defensive mode protects the schema")
    func settings() throws {
        let database = try Database(
            path, settings: "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY", isDefensive: true)
        #expect(try texts("PRAGMA secure_delete", in: database) == ["1"])
        #expect(try texts("PRAGMA temp_store", in: database) == ["2"])
        #expect(try texts("PRAGMA foreign_keys", in: database) == ["0"])
        // SQLITE_ERROR
        #expect(code { try database.execute("CREATE TABLE t (x); SELECT \"none\" FROM t") } == 1)
        #expect(code { try database.execute("CREATE TABLE u (x CHECK (x <> \"none\"))") } == 1)
        let change = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE t (y)'"
        #expect(code { try database.execute(change) } == 1)
        database.close()
        #expect(code { try Database(path).execute(change) } == nil, "positive control")
        #expect(code { _ = try Database(path, settings: "PRAGMA secure_delete = ON; wrong") } == 1)
    }

    @Test("Errors have extended codes and SQLite's message")
    func extendedCodes() throws {
        let database = try Database(":memory:")
        try database.execute("CREATE TABLE t (x UNIQUE NOT NULL); INSERT INTO t VALUES (1)")
        // SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_NOTNULL
        #expect(code { try database.execute("INSERT INTO t VALUES (1)") } == 2067)
        #expect(code { try Statement("INSERT INTO t VALUES (?)", in: database).run() } == 1299)
        #expect {
            try database.execute("SELECT y FROM t")
        } throws: { error in
            (error as? DatabaseError)?.message == "no such column: y"
        }
    }

    @Test("A statement waits for the lock of another connection as long as its connection says")
    func busyTimeout() throws {
        let other = try Database(path)
        try other.execute("CREATE TABLE t (x); BEGIN IMMEDIATE")
        #expect(try texts("PRAGMA busy_timeout", in: Database(path, busyTimeout: 1234)) == ["1234"])
        // SQLITE_BUSY
        #expect(code { try Database(path).execute("BEGIN IMMEDIATE") } == 5)
        let thread = Thread {
            usleep(50_000)
            try? other.execute("COMMIT")
        }
        thread.start()
        #expect(code { try Database(path, busyTimeout: 60_000).execute("BEGIN IMMEDIATE") } == nil)
    }

    // MARK: Statements

    @Test("A statement is compiled once, is reset and cleared when it is released, and can be used beside itself")
    func keptStatements() throws {
        let database = try Database(":memory:")
        try database.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        let sql = "SELECT x, ?1 FROM t ORDER BY x"
        let first = try database.prepared(sql)
        func isCleared() throws -> Bool {
            let statement = try Statement(sql, in: database)
            return try statement.step() && statement.integer(0) == 1 && statement.isNull(1)
        }
        do {
            let outer = try Statement(sql, in: database)
            try outer.bind(7, at: 1)
            #expect(try outer.step() && outer.integer(0) == 1)
            // The inner one is another one: the outer one goes on where it was.
            #expect(try database.prepared(sql) !== first && isCleared())
            #expect(try outer.step() && outer.integer(0) == 2 && outer.integer(1) == 7)
        }
        #expect(try database.prepared(sql) === first && isCleared())
        // A change of the schema, and an error, leave it usable.
        try database.execute("ALTER TABLE t ADD COLUMN y")
        #expect(try isCleared())
        let insertion = "INSERT INTO u VALUES (?)"
        try database.execute("CREATE TABLE u (x NOT NULL)")
        #expect(code { try Statement(insertion, in: database).run() } != nil)
        let again = try Statement(insertion, in: database)
        try again.bind(1, at: 1)
        #expect(try again.run() == 1)
    }

    @Test("Text that is no statement, or more than one, is refused")
    func oneStatement() throws {
        let database = try Database(":memory:")
        // SQLITE_ERROR, SQLITE_MISUSE
        for sql in ["", " ", "-- nothing", "SELEC 1"] {
            #expect(code { _ = try Statement(sql, in: database) } == 1, "\(sql)")
        }
        for sql in ["SELECT 1; SELECT 2", "SELECT 1; wrong"] {
            #expect(code { _ = try Statement(sql, in: database) } == 21, "\(sql)")
        }
        #expect(try texts("SELECT 1;", in: database) == ["1"])
    }

    @Test("Values are read as they were bound: numbers, bytes, no bytes, NULL; bytes are copied when they are bound")
    func values() throws {
        let database = try Database(":memory:")
        try database.execute("CREATE TABLE t (a, b, c, d)")
        do {
            let insertion = try Statement("INSERT INTO t VALUES (?, ?, ?, ?)", in: database)
            try insertion.bind(.min, at: 1)
            var bytes: [UInt8] = [0, 255, 0]
            try bytes.withUnsafeMutableBytes { bytes in
                try insertion.bind(UnsafeRawBufferPointer(bytes), at: 2)
                for index in bytes.indices { bytes[index] = 1 }
            }
            try insertion.bind(UnsafeRawBufferPointer(start: nil, count: 0), at: 3)
            try insertion.bindNull(at: 4)
            // SQLITE_RANGE
            #expect(code { try insertion.bind(1, at: 5) } == 25)
            #expect(try insertion.run() == 1)
        }
        #expect(database.lastInsertedRowID == 1 && database.totalChangesCount == 1)
        let row = try Statement("SELECT a, b, c, d FROM t", in: database)
        let hasRow = try row.step()
        #expect(hasRow && row.integer(0) == .min && row.bytes(1) == [0, 255, 0])
        #expect(row.bytes(2) == [] && !row.isNull(2) && row.bytes(3) == [] && row.isNull(3))
        let end = try row.step()
        #expect(!end)
    }

    // MARK: Transactions

    private struct Refusal: Error {}

    @Test("A transaction commits all changes or, when its body throws, none; and it locks out other writers at once")
    func transactions() throws {
        let database = try Database(path)
        try database.execute("CREATE TABLE t (x)")
        func write(_ body: () throws -> Void) throws {
            try database.transaction(onDatabaseError: { $0 as any Error }) {
                try database.execute("INSERT INTO t VALUES (1)")
                try body()
            }
        }
        try write {
            #expect(database.isInsideTransaction)
            #expect(code { try Database(path).execute("BEGIN IMMEDIATE") } == 5)
        }
        #expect(throws: Refusal.self) { try write { throw Refusal() } }
        #expect(!database.isInsideTransaction)
        // SQLite has rolled it back by itself.
        #expect(code { try write { try database.execute("INSERT OR ROLLBACK INTO t SELECT x FROM none") } } == 1)
        try database.execute("CREATE UNIQUE INDEX i ON t (x)")
        #expect(throws: DatabaseError.self) { try write {} }
        #expect(throws: DatabaseError.self) {
            try database.transaction(onDatabaseError: { $0 as any Error }) {
                try database.execute("INSERT INTO t VALUES (2); INSERT OR ROLLBACK INTO t VALUES (1)")
            }
        }
        #expect(!database.isInsideTransaction)
        #expect(try texts("SELECT x FROM t", in: database) == ["1"])
    }

    @Test("A transaction with a failed commit is rolled back, and has the commit's error")
    func failedCommit() throws {
        let database = try Database(path, settings: "PRAGMA foreign_keys = ON")
        try database.execute(
            "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE u (t REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
        // SQLITE_CONSTRAINT_FOREIGNKEY
        #expect(
            code {
                try database.transaction(onDatabaseError: { $0 as any Error }) {
                    try database.execute("INSERT INTO u VALUES (1)")
                }
            } == 787)
        #expect(!database.isInsideTransaction)
        #expect(try texts("SELECT count(*) FROM u", in: database) == ["0"])
    }

    // MARK: Limits

    @Test("Where work is limited, a statement fails rather than wait for a lock or exceed the instructions of all")
    func limits() throws {
        let (database, other) = (try Database(path, busyTimeout: 60_000), try Database(path))
        try database.execute("CREATE TABLE t (x)")
        func count(to last: Int) throws {
            let numbers = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < \(last))"
            #expect(try texts("\(numbers) SELECT count(*) FROM n", in: database) == ["\(last)"])
        }
        func limited(_ body: () throws -> Void) -> Int32? {
            code { try database.limiting(toInstructions: 20_000) { try body() } }
        }
        #expect(limited { try count(to: 100) } == nil)
        // SQLITE_INTERRUPT
        #expect(limited { try count(to: 10_000) } == 9)
        #expect(limited { for _ in 1...100 { try count(to: 100) } } == 9)
        #expect(code { try count(to: 10_000) } == nil)
        try other.execute("BEGIN EXCLUSIVE")
        // SQLITE_BUSY
        #expect(limited { _ = try texts("SELECT x FROM t", in: database) } == 5)
        #expect(try texts("PRAGMA busy_timeout", in: database) == ["60000"])
    }
}
