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

/// Rows of databases before version 4 get their lookup tokens once they can be opened.
@Suite("Migration to lookup attributes")
struct LookupMigrationTests {
    /// A copy of a frozen vector.
    private struct Copy {
        let temporary: TemporaryDirectory
        let key: DeviceKey
        var path: String { "\(temporary.path)/keychain.db" }

        init(_ vector: String) throws {
            temporary = try TemporaryDirectory()
            let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Vectors/\(vector)")
            for name in ["keychain.db", "device.key"] {
                let content = try Data(contentsOf: folder.appending(path: name))
                _ = FileManager.default.createFile(
                    atPath: "\(temporary.path)/\(name)", contents: content, attributes: [.posixPermissions: 0o600])
            }
            key = try #require(try DeviceKey.load(from: try PrivateDirectory(existing: temporary.path)))
        }

        func open() throws -> KeychainStore { try StoreFixture.open(path, key) }

        func openReadOnly() throws -> KeychainStore {
            let deviceKey = key
            return try KeychainStore(
                path: path, isReadOnly: true, attempts: PasscodeAttempts(inMemory: .system)
            ) { (_) throws(KeybagError) in deviceKey }
        }

        func execute(_ statements: String...) throws {
            try Database(path).change(statements)
        }

        var unindexed: Int {
            get throws {
                let sql = "SELECT count(*) FROM item WHERE class < 3 AND lookup_revision IS NOT revision"
                return try Database(path).numbers(sql).first ?? -1
            }
        }
    }

    /// Expects the items that clients of the Secret Service find in keychain-v1.
    private func expectItems(in store: KeychainStore) throws {
        let generic = ["service": "example.com", "username": "alice", "xdg:schema": "org.freedesktop.Secret.Generic"]
        #expect(try store.texts(generic, group: .shared) == ["s3cret"])
        #expect(try store.texts(["service": "example.com", "username": "bob"], group: .shared) == [])
        let network = ["server": "example.org", "protocol": "https", "port": "443", "user": "bob", "object": "/x"]
        #expect(try store.texts(network, .internetPassword).count == 1)
        #expect(try store.texts(["server": "example.org", "protocol": "http"], .internetPassword) == [])
    }

    @Test("T211, KDB-84: without a passcode the rows are indexed when the keychain is opened, once")
    func open() throws {
        let copy = try Copy("keychain-v1")
        for _ in 1...2 {
            let store = try copy.open()
            #expect(try copy.unindexed == 0)
            try expectItems(in: store)
            #expect(try store.inspector.inspect().damaged.isEmpty)
            store.close()
        }
    }

    @Test("KDB-84: an indexing that was interrupted is continued, and until then no item is missed")
    func interrupted() throws {
        let copy = try Copy("keychain-v1")
        try copy.open().close()
        // As after a crash between the two transactions, and after one in the middle.
        for condition in ["1 = 1", "id = 1", "id > 1"] {
            try copy.execute(
                "DELETE FROM lookup WHERE item IN (SELECT id FROM item WHERE \(condition))",
                "UPDATE item SET lookup_revision = NULL WHERE \(condition)")
            #expect(try copy.unindexed > 0)
            let reader = try copy.openReadOnly()
            try expectItems(in: reader)
            reader.close()
            let store = try copy.open()
            #expect(try copy.unindexed == 0)
            try expectItems(in: store)
            store.close()
        }
    }

    @Test("KDB-84: a keychain of an earlier version that cannot be written is searched by opening its rows")
    func readOnly() throws {
        let copy = try Copy("keychain-v1")
        let store = try copy.openReadOnly()
        try expectItems(in: store)
        store.close()
    }

    @Test(
        "T171, T172, KDB-84: rows of closed classes are indexed at the unlock; until then a search fails, and is not empty"
    )
    func passcode() throws {
        let copy = try Copy("keychain-v3")
        let store = try copy.open()
        #expect(try copy.unindexed == 10)
        let search = try LookupSample.search(["account": "plain"])
        #expect {
            _ = try store.search(search, limit: nil, withSecrets: true)
        } throws: { error in
            if case StoreError.keybag(.closed) = error { true } else { false }
        }
        // No row of another group can match.
        let other = try LookupSample.search(["account": "plain"], group: AccessGroup("G9", grade: .claimed))
        #expect(try store.search(other, limit: nil, withSecrets: true).records.isEmpty)
        // SecItem's searches do not need the tokens.
        #expect(throws: StoreError.self) { _ = try store.search(Sample.search(), limit: nil, withSecrets: true) }
        let passcode = try ConstraintFixture.passcode("cafe\u{301} au lait, five cups")
        try store.unlock(passcode, floor: PasscodeCost(exponent: 10))
        #expect(try copy.unindexed == 0)
        #expect(try store.texts(["account": "plain"]) == ["data of plain"])
        #expect(try store.texts(["account": "none"]).isEmpty)
        let constrained = try store.search(LookupSample.search(["user": "presence"]), limit: nil, withSecrets: true)
        #expect(constrained.records.count == 1 && constrained.records.first?.needsAuthentication != nil)
        store.lock(immediately: true)
        #expect(try store.search(search, limit: nil, withSecrets: true).locked.count == 1)
        store.close()
    }

    @Test("A row that was damaged before the migration does not keep searches from answering while locked")
    func damaged() throws {
        let copy = try Copy("keychain-v3")
        try copy.execute("UPDATE item SET metadata = zeroblob(200) WHERE id = (SELECT min(id) FROM item)")
        let store = try copy.open()
        let passcode = try ConstraintFixture.passcode("cafe\u{301} au lait, five cups")
        try store.unlock(passcode, floor: PasscodeCost(exponent: 10))
        #expect(try copy.unindexed == 0)
        store.lock(immediately: true)
        #expect(
            try store.search(LookupSample.search(["account": "plain"]), limit: nil, withSecrets: true).locked.count <= 1
        )
        store.close()
    }

    @Test("KDB-85: a program of an earlier version that has the database open writes no more rows")
    func earlierProgram() throws {
        let copy = try Copy("keychain-v1")
        try copy.open().close()
        let columns = """
            uuid, class, protection, generation, revision, sync, tombstone, primary_key, access_group, acct, svce, srvr,
            labl, atag, klbl, pkhh, subj, issr, metadata, secret, access_constraint
            """
        let others = columns.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            .filter { !["uuid", "primary_key"].contains($0) }
        #expect(throws: DatabaseError.self) {
            try copy.execute(
                "INSERT INTO item (uuid, primary_key, \(others.joined(separator: ", "))) "
                    + "SELECT randomblob(16), randomblob(16), \(others.joined(separator: ", ")) FROM item LIMIT 1")
        }
        #expect(throws: DatabaseError.self) {
            try copy.execute("UPDATE item SET revision = revision + 1, primary_key = primary_key WHERE id = 1")
        }
        let store = try copy.open()
        try expectItems(in: store)
        // It may delete rows.
        try copy.execute("DELETE FROM item")
        #expect(try copy.unindexed == 0)
        store.close()
    }

    @Test("KDB-85: an item with lookup attributes is not stored before the migration")
    func fullDisk() throws {
        let copy = try Copy("keychain-v1")
        let key = copy.key
        let size = try #require(try FileStatus.ofLink(copy.path)?.size)
        let store = try KeychainStore(
            path: copy.path, attempts: PasscodeAttempts(inMemory: .system),
            account: StorageAccount(maxBytes: Int(size), maxItems: 100)
        ) { (_) throws(KeybagError) in key }
        try expectItems(in: store)
        #expect(throws: StoreError.self) { _ = try store.add(LookupSample.item(["username": "alice"])) }
        store.close()
    }
}
