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

/// The behavior of a store on a read-only file system. StorageErrorTests mounts one; here a
/// parameter selects it.
@Suite("Read-only store")
struct ReadOnlyStoreTests {
    private let key = DeviceKey.ephemeral()
    private let cost = PasscodeCost(exponent: 10)

    @Test("A read-only store is readable, refuses every change with its own error, and leaves the files unchanged")
    func refusesChanges() throws {
        let (directory, path) = try made()
        defer { withExtendedLifetime(directory) {} }
        let before = try directory.files()
        let store = try openReadOnly(path)
        #expect(try accounts(in: store) == ["alice"])
        #expect(store.isReadOnly)
        let passcode = try self.passcode()
        let changes: [(String, () throws -> Void)] = [
            ("add", { _ = try store.add(Sample.item("bob")) }),
            ("add two", { _ = try store.add([Sample.item("bob"), Sample.item("carol")]) }),
            ("add a duplicate", { _ = try store.add(Sample.item("alice")) }),
            ("update", { _ = try store.update(Sample.search()) { $0 } }),
            ("remove", { _ = try store.remove(Sample.search(), now: 1) }),
            ("remove nothing", { _ = try store.remove(Sample.search([.account: .string("nobody")]), now: 1) }),
            ("repair", { _ = try store.inspector.repair(.moveDamaged, dryRun: false) }),
            ("quarantine", { _ = try store.inspector.repair(.emptyQuarantine, dryRun: false) }),
            ("set a passcode", { try store.passcode.set(passcode, cost: cost) }),
            (
                "change a passcode",
                { try store.passcode.change(from: passcode, to: passcode, rotates: true, cost: cost) }
            ),
            ("remove a passcode", { _ = try store.passcode.remove(passcode) }),
            ("recovery key", { _ = try store.administration.createRecoveryKey(nil) }),
            ("settings", { try store.administration.changeSettings(to: KeybagSettings(), nil) }),
            ("audit", { try store.audit.setHead(.first()) }),
        ]
        for (name, change) in changes {
            #expect("\(name)") { try change() } throws: { error in
                guard case StoreError.readOnly(let found) = error else { return false }
                return found == path
            }
        }
        store.lock(immediately: true)
        try store.checkpoint()
        try store.unlock(passcode)
        #expect(try store.inspector.repair(.moveDamaged, dryRun: true) == 0)
        let inspection = try store.inspector.inspect()
        #expect(inspection.rows == 1 && inspection.damaged.isEmpty && inspection.structure.isEmpty)
        #expect(try accounts(in: store) == ["alice"])
        store.close()
        #expect(try directory.files() == before)
    }

    @Test(
        "The name of a directory may contain characters with a meaning in a URI",
        arguments: ["?immutable=0", "#", "%41", "a b", "ü", "&mode=rwc", "'\"", "\u{1}", "+"])
    func oddNames(_ name: String) throws {
        let (directory, path) = try made()
        defer { withExtendedLifetime(directory) {} }
        let folder = "\(directory.path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: path, toPath: "\(folder)/keychain.db")
        try FileManager.default.removeItem(atPath: path)
        let store = try openReadOnly("\(folder)/keychain.db")
        #expect(try accounts(in: store) == ["alice"])
        store.close()
    }

    @Test("SQLite is told that a file without a log does not change, and that an inspection writes no index of a log")
    func uris() throws {
        let settled = ReadOnlyDatabase.State.settled(FileStatus.stamp(of: "/none"))
        let database = ReadOnlyDatabase(path: "/a b/c?d.db")
        #expect(database.uri(in: settled) == "file:///a%20b/c%3fd.db?immutable=1")
        #expect(database.uri(in: .logged) == "file:///a%20b/c%3fd.db")
        let inspected = ReadOnlyDatabase(path: "a.db", isInspected: true)
        #expect(inspected.uri(in: settled) == "file:a.db?immutable=1")
        #expect(inspected.uri(in: .logged) == "file:a.db?readonly_shm=1")
    }

    @Test("The connections of a read-only store have the settings of the others, as far as they read")
    func settings() throws {
        let (directory, path) = try made()
        defer { withExtendedLifetime(directory) {} }
        for (isInspected, timeout) in [(false, 60_000), (true, 1_000)] {
            let connections = ConnectionPool(ReadOnlyDatabase(path: path, isInspected: isInspected))
            defer { connections.close() }
            for (name, value) in [
                ("temp_store", 2), ("trusted_schema", 0), ("cell_size_check", 1), ("busy_timeout", timeout),
            ] {
                let found = try connections.withConnection { (database) throws(StoreError) in
                    let statement = try RowStatement("PRAGMA \(name)", in: database)
                    return try statement.step() ? Int(statement.integer(0)) : nil
                }
                #expect(found == value, "\(name)")
            }
        }
    }

    @Test("A log that a program has left behind is read")
    func leftLog() throws {
        let (directory, path) = try made()
        defer { withExtendedLifetime(directory) {} }
        let store = try StoreFixture.open(path, key)
        let copy = "\(directory.path)/copy"
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let reader = try Database(path)
        // While this connection reads, the log cannot be moved into the database.
        try reader.execute("BEGIN; SELECT count(*) FROM item")
        _ = try store.add(Sample.item("bob"))
        for suffix in ["-wal", "-shm", ""] {
            try FileManager.default.copyItem(atPath: "\(path)\(suffix)", toPath: "\(copy)/keychain.db\(suffix)")
        }
        reader.close()
        store.close()
        let copied = try openReadOnly("\(copy)/keychain.db")
        #expect(try accounts(in: copied) == ["alice", "bob"])
        #expect { try copied.add(Sample.item("carol")) } throws: { error in
            if case StoreError.readOnly = error { true } else { false }
        }
        copied.close()
        // A writable store empties the log.
        try StoreFixture.open("\(copy)/keychain.db", key).close()
        #expect(try accounts(in: try openReadOnly("\(copy)/keychain.db")) == ["alice", "bob"])
    }

    @Test(
        "A log without its index is refused with its own error; after a writer has opened the database, or with an empty log, it is read"
    )
    func pendingLog() throws {
        let (directory, path) = try made()
        defer { withExtendedLifetime(directory) {} }
        try Data([1]).write(to: URL(filePath: "\(path)-wal"))
        #expect { try openReadOnly(path) } throws: { error in
            guard case StoreError.pendingLog(let found) = error else { return false }
            return found == "\(path)-wal"
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(path)-wal")
        try StoreFixture.open(path, key).close()
        try Data().write(to: URL(filePath: "\(path)-wal"))
        let store = try openReadOnly(path)
        #expect(try accounts(in: store) == ["alice"])
        // Another mount of the same files may be writable: then its log has an index.
        try Data([1]).write(to: URL(filePath: "\(path)-wal"))
        #expect(throws: StoreError.self) { try accounts(in: store) }
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        #expect(try accounts(in: store) == ["alice"])
        store.close()
    }

    @Test("The next call sees a change through another mount, and a change during a call makes it fail")
    func changedElsewhere() throws {
        let (directory, path) = try made()
        defer { withExtendedLifetime(directory) {} }
        let store = try openReadOnly(path)
        #expect(try accounts(in: store) == ["alice"])
        // File times have the resolution of the kernel's clock.
        try awaitNextTick(after: path, in: directory)
        let other = try StoreFixture.open(path, key)
        _ = try other.add(Sample.item("bob"))
        other.close()
        #expect(try accounts(in: store) == ["alice", "bob"])
        try awaitNextTick(after: path, in: directory)
        #expect {
            try store.read { (_, _) throws(StoreError) in
                // Write the same bytes again.
                try? Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: path))
            }
        } throws: { error in
            guard case StoreError.changedDuringRead = error else { return false }
            return true
        }
        store.close()
    }

    @Test("If passcodes can be counted, a passcode unlocks a read-only store, also with a cost below the floor")
    func unlocks() throws {
        let (directory, path) = try made(withPasscode: true)
        defer { withExtendedLifetime(directory) {} }
        let store = try openReadOnly(path)
        #expect(throws: StoreError.self) { try accounts(in: store) }
        #expect(throws: StoreError.self) { try store.unlock(try passcode("another one")) }
        #expect(try store.passcodeAttempts().count == 1)
        try store.unlock(try passcode(), floor: .floor)
        #expect(try accounts(in: store) == ["alice"])
        #expect(try store.passcodeAttempts().count == 0)
        store.close()
    }

    @Test(
        "No keychain is created on a read-only file system; an emptied one and an interrupted creation give different errors"
    )
    func empty() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/keychain.db"
        _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        #expect { try openReadOnly(path) } throws: { error in
            if case StoreError.notAKeychain = error { true } else { false }
        }
        _ = FileManager.default.createFile(atPath: "\(path).new", contents: nil, attributes: [.posixPermissions: 0o600])
        #expect { try openReadOnly(path) } throws: { error in
            if case StoreError.readOnly = error { true } else { false }
        }
        #expect(try directory.files() == ["keychain.db": [], "keychain.db.new": []])
    }

    // MARK: Helpers

    /// Creates a closed keychain with one item, of the account alice.
    private func made(withPasscode: Bool = false) throws -> (directory: TemporaryDirectory, path: String) {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/keychain.db"
        let store = try StoreFixture.open(path, key)
        _ = try store.add(Sample.item("alice"))
        if withPasscode { try store.passcode.set(try passcode(), cost: cost) }
        store.close()
        return (directory, path)
    }

    private func openReadOnly(_ path: String) throws -> KeychainStore {
        try KeychainStore(path: path, isReadOnly: true, attempts: PasscodeAttempts(inMemory: .system)) {
            (_) throws(KeybagError) in key
        }
    }

    private func accounts(in store: KeychainStore) throws -> [String] {
        try store.search(Sample.search(), limit: nil, withSecrets: true).records.compactMap(\.text).map {
            $0.replacingOccurrences(of: "data of ", with: "")
        }
    }

    private func passcode(_ text: String = "the passcode") throws -> Passcode {
        try Passcode(SharedSecret(copying: text.utf8))
    }

    /// Waits until a file that is written now gets another time than the file at `path`.
    private func awaitNextTick(after path: String, in directory: TemporaryDirectory) throws {
        func time(_ path: String) throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        }
        let before = try time(path)
        repeat {
            try Data([1]).write(to: URL(filePath: "\(directory.path)/probe"))
        } while try time("\(directory.path)/probe") == before
    }
}
