// SPDX-License-Identifier: Apache-2.0

import GRDB
import Keybag
import KeychainModel
import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory

/// A store on disk whose database the test can change directly.
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
    func tamper(_ statements: String..., arguments: StatementArguments = []) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            for statement in statements { try database.execute(sql: statement, arguments: arguments) }
        }
        try queue.close()
    }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read(body)
    }
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
