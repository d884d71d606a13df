// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SQLiteConnections
import SecretMemory
import Testing

/// Databases of earlier versions get the tables of version 4 when they are opened for writing.
@Suite("Format versions")
struct FormatVersionTests {
    private static let vectors = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")

    /// A copy of a frozen vector.
    private struct Copy {
        let temporary: TemporaryDirectory
        let key: DeviceKey
        var path: String { "\(temporary.path)/keychain.db" }

        init(_ vector: String) throws {
            temporary = try TemporaryDirectory()
            for name in ["keychain.db", "device.key"] {
                let content = try Data(contentsOf: FormatVersionTests.vectors.appending(path: "\(vector)/\(name)"))
                _ = FileManager.default.createFile(
                    atPath: "\(temporary.path)/\(name)", contents: content, attributes: [.posixPermissions: 0o600])
            }
            key = try #require(try DeviceKey.load(from: try PrivateDirectory(existing: temporary.path)))
        }

        func texts(_ sql: String) throws -> [String] { try Database(path).texts(sql) }

        func numbers(_ sql: String) throws -> [Int] { try Database(path).numbers(sql) }

        func execute(_ sql: String) throws { try Database(path).change([sql]) }
    }

    private static let audit = """
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY,
            sequence INTEGER NOT NULL,
            code BLOB NOT NULL,
            key BLOB NOT NULL
        )
        """

    @Test(
        "KDB-64: opening for writing migrates versions 1 and 2 once, and leaves the rows as they are",
        arguments: [1, 2])
    func migration(_ version: Int) throws {
        let copy = try Copy("keychain-v1")
        if version == 2 {
            try copy.execute(Self.audit)
            try copy.execute("PRAGMA user_version = 2")
        }
        let rows = "SELECT quote(metadata) || quote(secret) || revision || generation FROM item ORDER BY id"
        let before = try copy.texts(rows)
        #expect(before.count == 5)
        for _ in 1...2 {
            let store = try StoreFixture.open(copy.path, copy.key)
            #expect(try store.inspector.inspect().damaged.isEmpty)
            store.close()
        }
        #expect(try copy.numbers("PRAGMA user_version") == [4])
        #expect(try copy.texts(rows) == before)
        #expect(try copy.numbers("SELECT count(*) FROM item WHERE access_constraint IS NULL") == [5])
        // A new keychain has the same tables.
        let fresh = try StoreFixture()
        try fresh.open().close()
        let texts = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql"
        #expect(try copy.texts(texts) == fresh.texts(texts))
    }

    @Test("KDB-64: a read-only keychain of an earlier version is read and not changed")
    func readOnly() throws {
        let copy = try Copy("keychain-v1")
        let key = copy.key
        let store = try KeychainStore(
            path: copy.path, isReadOnly: true, attempts: PasscodeAttempts(inMemory: .system)
        ) { (_) throws(KeybagError) in key }
        let search = ItemSearch(.genericPassword, groups: .all(.claimed), synchronizable: .any)
        let found = try store.search(search, limit: nil, withSecrets: true)
        #expect(found.records.count == 2 && found.damaged.isEmpty)
        #expect(try store.inspector.inspect().damaged.isEmpty)
        store.close()
        #expect(try copy.numbers("PRAGMA user_version") == [1])
    }

    @Test("An altered text of a migrated table is refused", arguments: ["item", "quarantine"])
    func alteredTable(_ table: String) throws {
        let copy = try Copy("keychain-v1")
        try StoreFixture.open(copy.path, copy.key).close()
        try copy.execute("ALTER TABLE \(table) ADD COLUMN another BLOB")
        #expect(throws: StoreError.self) { _ = try StoreFixture.open(copy.path, copy.key) }
    }

    @Test("A version without its columns, and an earlier one with them, are refused")
    func mismatchedVersions() throws {
        let copy = try Copy("keychain-v1")
        try copy.execute(Self.audit)
        for version in [3, 4] {
            try copy.execute("PRAGMA user_version = \(version)")
            #expect(throws: StoreError.self) { _ = try StoreFixture.open(copy.path, copy.key) }
        }
        let fresh = try StoreFixture()
        try fresh.open().close()
        for version in [2, 3] {
            try fresh.tamper("PRAGMA user_version = \(version)")
            #expect(throws: StoreError.self) { _ = try fresh.open() }
        }
    }

    @Test("If the disk is full at the migration, the keychain is used as it is, and stores no constraints")
    func fullDisk() throws {
        let copy = try Copy("keychain-v1")
        let key = copy.key
        // A quota of the present size: no page can be added, and none is.
        let size = try #require(try FileStatus.ofLink(copy.path)?.size)
        let store = try KeychainStore(
            path: copy.path, attempts: PasscodeAttempts(inMemory: .system),
            account: StorageAccount(maxBytes: Int(size), maxItems: 100)
        ) { (_) throws(KeybagError) in key }
        let search = ItemSearch(
            .genericPassword, groups: .only([.shared]), attributes: [.account: .string("alice")])
        #expect(try store.search(search, limit: 1, withSecrets: true).records.first?.text == "s3cret")
        var item = Sample.item("constrained")
        item.accessControlFlags = .applicationPassword
        #expect(throws: StoreError.self) {
            _ = try store.add(
                item, binding: ConstraintBinding(applicationPassword: try ConstraintFixture.password()))
        }
        #expect(try store.remove(search, now: 3000) == 1)
        store.close()
        #expect(try copy.numbers("PRAGMA user_version") == [1])
    }

    /// The version in the keybag record, and the generation of the record.
    private func keybag(_ copy: Copy) throws -> [Int] {
        try copy.texts("SELECT hex(substr(record, 1, 2)) FROM keybag").compactMap { Int($0, radix: 16) }
            + copy.numbers("SELECT generation FROM keybag")
    }

    @Test("KDB-70: the migration writes version 3 of the keybag; a running program of version 2 refuses it")
    func keybagVersion() throws {
        let copy = try Copy("keychain-v1")
        let before = try keybag(copy)
        #expect(before == [1, 1])
        try StoreFixture.open(copy.path, copy.key).close()
        // A program that is running reads the record again, because the generation is another one.
        #expect(try keybag(copy) == [3, 2])
        let store = try StoreFixture.open(copy.path, copy.key)
        _ = try store.add(
            ConstraintFixture.item("alice", .applicationPassword), binding: ConstraintFixture.binding())
        store.close()
        #expect(try keybag(copy) == [3, 2])
    }

    @Test("KDB-70: with a passcode the keybag gets version 3 at the unlock; until then no constraint is stored")
    func keybagVersionWithPasscode() throws {
        let copy = try Copy("keychain-v1-passcode")
        let store = try StoreFixture.open(copy.path, copy.key)
        #expect(try keybag(copy).first == 2)
        let item = ConstraintFixture.item("alice", .applicationPassword, .always)
        #expect {
            _ = try store.add(item, binding: ConstraintFixture.binding())
        } throws: { error in
            if case StoreError.keybag(.olderKeybag) = error { true } else { false }
        }
        try store.unlock(Self.passcode(), floor: PasscodeCost(exponent: 10))
        #expect(try keybag(copy).first == 3)
        _ = try store.add(item, binding: ConstraintFixture.binding())
        store.close()
        withExtendedLifetime(copy) {}
    }

    private static func passcode() throws -> Passcode {
        try ConstraintFixture.passcode("cafe\u{301} au lait, five cups")
    }

    @Test("A full disk does not keep a keychain of an earlier version from being unlocked")
    func fullAtUnlock() throws {
        let copy = try Copy("keychain-v1-passcode")
        let key = copy.key
        // The newest tables; then there is no space for a new record of the keybag.
        try StoreFixture.open(copy.path, copy.key).close()
        // With the reserve, because it is part of the size.
        let size = KeychainStore.size(of: copy.path)
        let store = try KeychainStore(
            path: copy.path, attempts: PasscodeAttempts(inMemory: .system),
            account: StorageAccount(maxBytes: size + 65536, maxItems: 100)
        ) { (_) throws(KeybagError) in key }
        _ = try store.add(ConstraintFixture.item("zoe", nil, .always))
        var count = 0
        // Fills the log; a reader keeps it from being emptied.
        let reader = try Database(copy.path)
        try reader.execute("BEGIN; SELECT count(*) FROM item")
        let search = Sample.search([.account: .string("zoe")])
        while (try? store.update(search) { $0 }) != nil { count += 1 }
        #expect(count > 1)
        try store.unlock(Self.passcode(), floor: .floor)
        #expect(store.lockState == .unlocked && store.keybag.device.record.pairs.isEmpty)
        #expect(store.keybag.device.passcodeCost == PasscodeCost(exponent: 10))
        reader.close()
        store.close()
        let later = try StoreFixture.open(copy.path, copy.key)
        try later.unlock(Self.passcode(), floor: PasscodeCost(exponent: 11))
        #expect(later.keybag.device.record.pairs.count == 2)
        #expect(later.keybag.device.passcodeCost == PasscodeCost(exponent: 11))
        later.close()
        withExtendedLifetime(copy) {}
    }

    @Test("A recovery key older than the presence pairs is reported, with the items that a recovery would delete")
    func olderRecoveryKey() throws {
        let copy = try Copy("keychain-v1-passcode")
        let key = copy.key
        let folder = Self.vectors.appending(path: "keychain-v1-passcode/recovery-key.txt")
        let text = try String(contentsOf: folder, encoding: .utf8)
        func lostAtRecovery(_ recovery: RecoveryKey) throws -> Int {
            try KeychainStore.recover(
                path: copy.path, with: recovery, newPasscode: nil, cost: PasscodeCost(exponent: 10),
                attempts: PasscodeAttempts(inMemory: .system)
            ) { (_, _) throws(KeybagError) in key }
        }
        let old = try RecoveryKey(text: SharedSecret(copying: text.utf8))
        let store = try StoreFixture.open(copy.path, copy.key)
        try store.unlock(Self.passcode(), floor: PasscodeCost(exponent: 10))
        #expect(try store.recoveryLosesConstrainedItems == 0)
        let before = try lostAtRecovery(old)
        for flags in [AccessControlFlags.devicePasscode, .userPresence, .applicationPassword] {
            _ = try store.add(ConstraintFixture.item("\(flags.rawValue)", flags), binding: ConstraintFixture.binding())
        }
        // The class of this item is lost in any recovery.
        _ = try store.add(ConstraintFixture.item("bound", .devicePasscode, .whenUnlockedThisDeviceOnly))
        #expect(try store.recoveryLosesConstrainedItems == 2)
        #expect(try lostAtRecovery(old) == before + 3)
        let new = try store.administration.createRecoveryKey(Self.passcode())
        #expect(try store.recoveryLosesConstrainedItems == 0)
        #expect(try lostAtRecovery(new) == before + 1)
        #expect(try store.administration.removeRecoveryKey(Self.passcode()))
        #expect(try store.recoveryLosesConstrainedItems == 0)
        store.close()
        withExtendedLifetime(copy) {}
    }

    @Test("A passcode of an earlier version gets its presence pairs at the unlock; before that nothing needs them")
    func presencePairs() throws {
        let copy = try Copy("keychain-v1-passcode")
        let store = try StoreFixture.open(copy.path, copy.key)
        #expect(store.keybag.device.record.pairs.isEmpty)
        var item = ConstraintFixture.item("alice", .devicePasscode, .always)
        item.protection = .always
        #expect {
            _ = try store.add(item)
        } throws: { error in
            if case StoreError.keybag(.presenceKeyMissing) = error { true } else { false }
        }
        let passcode = try ConstraintFixture.passcode("cafe\u{301} au lait, five cups")
        try store.unlock(passcode, floor: PasscodeCost(exponent: 10))
        _ = try store.add(item)
        let keys = store.constraintKeys()
        try store.satisfy(keys, with: passcode)
        let search = Sample.search([.account: .string("alice")])
        #expect(
            try store.search(search, limit: nil, withSecrets: true, constraints: keys).records.map(\.text) == [
                "data of alice"
            ])
        store.close()
        withExtendedLifetime(copy) {}
    }
}
