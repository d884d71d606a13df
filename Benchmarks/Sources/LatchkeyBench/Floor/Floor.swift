// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The minimum work that this format requires: SQLite's C interface and swift-crypto, one
/// connection, one thread, nothing else.
///
/// One exact lookup is three search tokens (account, service, access group), one point query with a
/// prepared statement, and for each half one unwrapped key and one AES-GCM open. Each write is a
/// separate transaction, durable when it returns.
final class Floor {
    private let connection: SQLiteConnection
    private let statements: FloorStatements
    private let cryptography: FloorCryptography
    private let shape: DatabaseShape
    let path: String
    let keys = FloorKeys.random()

    /// Creates a database at `path`, with the tables of the keychain and the settings of its
    /// connections.
    init(path: String, shape: DatabaseShape) throws {
        let connection = try SQLiteConnection(path: path)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA secure_delete = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            """)
        for statement in shape.tables { try connection.execute(statement) }
        self.connection = connection
        self.path = path
        cryptography = FloorCryptography(keys)
        statements = try FloorStatements(connection)
        self.shape = shape
    }

    /// Adds many items in large transactions; not timed.
    func fill(_ numbers: Range<Int>) throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: Self.itemsPerTransaction) {
            try transaction {
                for number in start..<min(start + Self.itemsPerTransaction, numbers.upperBound) {
                    try insert(Item(number))
                }
            }
        }
    }

    /// Moves the write-ahead log into the database.
    func checkpoint() throws {
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static let itemsPerTransaction = 10_000

    // MARK: Searches

    /// Opens both halves, and returns the secret one.
    func secret(account: String, service: String?) throws -> Data? {
        guard let row = try row(account: account, service: service) else { return nil }
        _ = try cryptography.open(.metadata, of: row)
        return try cryptography.open(.secret, of: row)
    }

    /// Opens the metadata half.
    func metadata(account: String, service: String) throws -> Data? {
        guard let row = try row(account: account, service: service) else { return nil }
        return try cryptography.open(.metadata, of: row)
    }

    /// Opens both halves of all items of a service.
    func items(service: String) throws -> [(metadata: Data, secret: Data)] {
        let statement = statements.selectByService
        defer { statement.reset() }
        try statement.bind(Self.itemClass, at: 1)
        try statement.bind(cryptography.token("svce", service), at: 2)
        try statement.bind(groupToken, at: 3)
        var items: [(metadata: Data, secret: Data)] = []
        while try statement.step() {
            let row = FloorRow(statement)
            items.append((try cryptography.open(.metadata, of: row), try cryptography.open(.secret, of: row)))
        }
        return items
    }

    private func row(account: String, service: String?) throws -> FloorRow? {
        let statement = service == nil ? statements.selectByAccount : statements.selectByAccountAndService
        defer { statement.reset() }
        try statement.bind(Self.itemClass, at: 1)
        try statement.bind(cryptography.token("acct", account), at: 2)
        var last: Int32 = 3
        if let service {
            try statement.bind(cryptography.token("svce", service), at: last)
            last += 1
        }
        try statement.bind(groupToken, at: last)
        guard try statement.step() else { return nil }
        return FloorRow(statement)
    }

    // MARK: Changes

    /// Adds an item: five tokens, two new keys, two seals, one row, and the tokens of its five lookup
    /// attributes.
    func add(_ item: Item) throws {
        try transaction { try insert(item) }
    }

    /// Finds and opens the row, seals it again with the replacement and the next revision, and
    /// writes it.
    func update(_ item: Item) throws {
        try transaction {
            let old = try existingRow(of: item)
            _ = try cryptography.open(.metadata, of: old)
            _ = try cryptography.open(.secret, of: old)
            let row = try sealed(item, secret: item.replacement, uuid: old.uuid, revision: old.revision + 1)
            let last = try row.bind(to: statements.update)
            try statements.update.bind(old.id, at: last + 1)
            try statements.update.run()
        }
    }

    /// Finds the row, opens its metadata to verify that it is the right one, and deletes it.
    func delete(_ item: Item) throws {
        try transaction {
            let row = try existingRow(of: item)
            _ = try cryptography.open(.metadata, of: row)
            try statements.delete.bind(row.id, at: 1)
            try statements.delete.run()
        }
    }

    private func existingRow(of item: Item) throws -> FloorRow {
        guard let row = try row(account: item.account, service: item.service) else {
            throw BenchmarkFailure("floor: item \(item.number) not found")
        }
        return row
    }

    private func insert(_ item: Item) throws {
        try sealed(item, secret: item.secret, uuid: Self.randomIdentifier(), revision: 1).bind(to: statements.insert)
        try statements.insert.run()
        let id = connection.lastInsertedRow
        for (name, value) in Self.lookup(of: item) {
            try statements.insertLookup.bind(cryptography.token(name, value), at: 1)
            try statements.insertLookup.bind(id, at: 2)
            try statements.insertLookup.run()
        }
    }

    /// The lookup attributes of an item.
    private static func lookup(of item: Item) -> [(String, String)] {
        [
            ("xdg:schema", "org.freedesktop.Secret.Generic"), ("service", item.service), ("account", item.account),
            ("user", item.account), ("username", item.account),
        ]
    }

    private func transaction(_ body: () throws -> Void) throws {
        try statements.begin.run()
        do {
            try body()
            try statements.commit.run()
        } catch {
            try? statements.rollback.run()  // The first error is reported.
            throw error
        }
    }

    // MARK: Rows

    private func sealed(_ item: Item, secret: [UInt8], uuid: [UInt8], revision: Int64) throws -> FloorRow {
        let account = cryptography.token("acct", item.account)
        let service = cryptography.token("svce", item.service)
        let label = cryptography.token("labl", item.label)
        let group = groupToken
        let primaryKey = cryptography.token("primary key", Array(item.account.utf8) + Array(item.service.utf8) + group)
        var row = FloorRow(
            uuid: uuid, revision: revision, primaryKey: primaryKey, accessGroup: group,
            tokens: [account, service, nil, label, nil, nil, nil, nil, nil], metadata: [], secret: [])
        row.metadata = try cryptography.seal(paddedMetadata(of: item), as: .metadata, of: row)
        row.secret = try cryptography.seal(padded(secret), as: .secret, of: row)
        return row
    }

    /// Returns the content of the metadata half of an item.
    func paddedMetadata(of item: Item) -> [UInt8] {
        padded(Array(item.label.utf8), sealedLength: shape.metadataLength)
    }

    /// Returns the content of the secret half of an item.
    func padded(_ secret: [UInt8]) -> [UInt8] { padded(secret, sealedLength: shape.secretLength) }

    /// Returns the content padded with zeros, so that the sealed half has the same length as the
    /// keychain's.
    private func padded(_ content: [UInt8], sealedLength: Int) -> [UInt8] {
        content + [UInt8](repeating: 0, count: max(0, sealedLength - FloorCryptography.overhead - content.count))
    }

    private var groupToken: [UInt8] { cryptography.token("group", "latchkey.shared") }

    private static func randomIdentifier() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let words: (UInt64, UInt64) = (generator.next(), generator.next())
        return withUnsafeBytes(of: words) { Array($0) }
    }

    private static let itemClass: Int64 = 1
}
