// SPDX-License-Identifier: Apache-2.0

import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SQLiteConnections
import SecretMemory

/// A store on disk with a database that the test can change directly.
final class StoreFixture: Sendable {
    let temporary: TemporaryDirectory
    let path: String
    private let deviceKey = DeviceKey.ephemeral()

    init() throws {
        temporary = try TemporaryDirectory()
        path = "\(temporary.path)/keychain.db"
    }

    /// Opens the store at `path`, or its copy elsewhere.
    func open(_ copy: String? = nil, clock: BootClock = .system) throws -> KeychainStore {
        try Self.open(copy ?? path, deviceKey, clock: clock)
    }

    static func open(_ path: String, _ key: DeviceKey, clock: BootClock = .system) throws -> KeychainStore {
        try KeychainStore(path: path, attempts: PasscodeAttempts(inMemory: clock), clock: clock) {
            (_) throws(KeybagError) in key
        }
    }

    /// Runs SQL on the closed database, as a process with write access to the file could.
    func tamper(_ statements: String...) throws { try Database(path).change(statements) }

    func texts(_ sql: String) throws -> [String] { try Database(path).texts(sql) }

    func numbers(_ sql: String) throws -> [Int] { try Database(path).numbers(sql) }

    /// A statement that puts the present keybag back.
    func replacingKeybag() throws -> String {
        let columns = ["generation", "record", "device_tag", "user_tag"].map { "'\($0) = ' || quote(\($0))" }
        return try "UPDATE keybag SET "
            + texts("SELECT \(columns.joined(separator: " || ', ' || ")) FROM keybag").joined()
    }
}

extension Database {
    /// Runs statements in one transaction.
    func change(_ statements: [String]) throws {
        try transaction(onDatabaseError: { $0 as any Error }) {
            for statement in statements { try execute(statement) }
        }
    }

    func rows<Value>(_ sql: String, _ value: (borrowing Statement) -> Value) throws -> [Value] {
        let statement = try Statement(sql, in: self)
        var values: [Value] = []
        while try statement.step() { values.append(value(statement)) }
        return values
    }

    /// The first column of each row.
    func texts(_ sql: String) throws -> [String] {
        try rows(sql) { String(decoding: $0.bytes(0), as: UTF8.self) }
    }

    /// How SQLite runs a statement.
    func plan(_ sql: String) throws(StoreError) -> [String] {
        let statement = try RowStatement("EXPLAIN QUERY PLAN \(sql)", in: self)
        var steps: [String] = []
        while try statement.step() { steps.append(String(decoding: statement.blob(3), as: UTF8.self)) }
        return steps
    }

    /// The first column of each row.
    func numbers(_ sql: String) throws -> [Int] { try rows(sql) { Int($0.integer(0)) } }
}

enum Sample {
    static let group = AccessGroup("G1", grade: .claimed)

    /// A generic password with attributes and data that depend on its account.
    static func item(_ account: String, data: String? = nil) -> ItemRecord {
        var record = ItemRecord(
            identifier: .random(), itemClass: .genericPassword, protection: .whenUnlocked, accessGroup: group,
            created: 100, modified: 100,
            attributes: [
                .account: .string(account), .service: .string("service of \(account)"),
                .label: .string("label of \(account)"),
            ],
            addedBy: "/usr/bin/example",
            secrets: ItemSecrets(data: SharedSecret(copying: (data ?? "data of \(account)").utf8)))
        record.completeDefaults()
        return record
    }

    static func search(_ attributes: [ItemAttribute: AttributeValue] = [:]) -> ItemSearch {
        ItemSearch(.genericPassword, groups: .only([group]), attributes: attributes, synchronizable: .any)
    }
}

extension ItemRecord {
    var text: String? { secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
