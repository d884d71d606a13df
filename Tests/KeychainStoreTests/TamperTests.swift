// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainStore
import KeychainTesting
import SecretMemory
import Synchronization
import Testing

/// A process that can write the file can cause errors, but not wrong results.
@Suite("Tampering")
struct TamperTests {
    @Test("Any flipped byte gives an error, a skipped row or the correct result", .long)
    func everyByte() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 0..<20 { _ = try store.add(Sample.item("account \(number)")) }
        store.close()
        let original = try Data(contentsOf: URL(filePath: fixture.path))
        // `make tamper` sets 1. The header and the page of the schema are always flipped byte by
        // byte.
        let step = ProcessInfo.processInfo.environment["LATCHKEY_TAMPER_STEP"].flatMap(Int.init) ?? 16
        let offsets = Array(0..<100) + stride(from: 100, to: original.count, by: step)
        let tally = Mutex((right: 0, refused: 0))
        DispatchQueue.concurrentPerform(iterations: offsets.count) { index in
            do {
                let outcome = try answers(fixture, original, flippedAt: offsets[index])
                tally.withLock { $0 = ($0.right + outcome.right, $0.refused + outcome.refused) }
            } catch {
                Issue.record("offset \(offsets[index]): \(error)")
            }
        }
        let (right, refused) = tally.withLock { $0 }
        #expect(right > 0, "no flip left a readable item: the test checks nothing")
        #expect(refused > 0, "no flip was detected: the test flips nothing")
    }

    @Test("Any flipped byte of the log gives an error, an earlier state or the correct result", .long)
    func everyByteOfTheLog() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 0..<4 { _ = try store.add(Sample.item("account \(number)")) }
        try store.checkpoint()
        // The log holds a new item, and a new version of an old one.
        _ = try store.add(Sample.item("account 4"))
        _ = try store.update(Sample.search([.account: .string("account 0")])) { record in
            var changed = record
            changed.secrets?.data = SharedSecret(copying: "new data".utf8)
            return changed
        }
        let original = try Data(contentsOf: URL(filePath: fixture.path))
        let log = try Data(contentsOf: URL(filePath: "\(fixture.path)-wal"))
        #expect(log.count > 4096, "the log is empty: the test checks nothing")
        let step = ProcessInfo.processInfo.environment["LATCHKEY_TAMPER_STEP"].flatMap(Int.init) ?? 64
        let older = Mutex(0)
        let offsets = Array(0..<64) + stride(from: 64, to: log.count, by: step)
        DispatchQueue.concurrentPerform(iterations: offsets.count) { index in
            let copy = "\(fixture.temporary.path)/log-\(offsets[index]).db"
            defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) } }
            var changed = log
            changed[offsets[index]] ^= 0xFF
            for (path, content) in [(copy, original), ("\(copy)-wal", changed)] {
                _ = FileManager.default.createFile(
                    atPath: path, contents: content, attributes: [.posixPermissions: 0o600])
            }
            guard let opened = try? fixture.open(copy) else { return }
            defer { opened.close() }
            guard let found = try? opened.search(Sample.search(), limit: nil, withSecrets: true) else { return }
            for record in found.records {
                let account = record[.account]?.text ?? "?"
                let isChanged = account == "account 0" && record.text == "new data"
                #expect(isChanged || record.text == "data of \(account)", "offset \(offsets[index])")
            }
            if !found.records.contains(where: { $0.text == "new data" }) { older.withLock { $0 += 1 } }
        }
        #expect(older.withLock { $0 } > 0, "no flip was detected: the test flips nothing")
        store.close()
    }

    /// Opens a copy with one flipped byte, and searches every item; records wrong results.
    private func answers(_ fixture: StoreFixture, _ original: Data, flippedAt offset: Int) throws -> (
        right: Int, refused: Int
    ) {
        let copy = "\(fixture.temporary.path)/flipped-\(offset).db"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) } }
        var changed = original
        changed[offset] ^= 0xFF
        _ = FileManager.default.createFile(atPath: copy, contents: changed, attributes: [.posixPermissions: 0o600])
        var right = 0
        var refused = 0
        let store: KeychainStore
        do {
            store = try fixture.open(copy)
        } catch {
            return (0, 20)
        }
        for number in 0..<20 {
            let account = "account \(number)"
            let search = Sample.search([.account: .string(account), .service: .string("service of \(account)")])
            guard let result = try? store.search(search, limit: nil, withSecrets: true), !result.records.isEmpty else {
                refused += 1
                continue
            }
            #expect(result.records.count == 1, "offset \(offset)")
            for record in result.records {
                #expect(record.text == "data of \(account)", "offset \(offset)")
                #expect(record[.label]?.text == "label of \(account)", "offset \(offset)")
                #expect(record.created == 100 && record.addedBy == "/usr/bin/example", "offset \(offset)")
            }
            right += 1
        }
        for record in (try? store.search(Sample.search(), limit: nil, withSecrets: true))?.records ?? [] {
            #expect(record.text == record[.account]?.text.map { "data of \($0)" }, "offset \(offset)")
        }
        store.close()
        return (right, refused)
    }

    /// Every column of a row except its position.
    static let columns = [
        "uuid", "class", "protection", "generation", "revision", "sync", "tombstone", "primary_key", "access_group",
        "acct", "svce", "labl",
        "metadata", "secret",
    ]

    @Test("T202: rows with an exchanged column do not open as each other", arguments: columns)
    func exchangedColumns(_ column: String) throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        var other = Sample.item("bob")
        other.protection = .afterFirstUnlock
        other.isSynchronizable = true
        other.itemClass = .genericPassword
        _ = try store.add(Sample.item("alice"))
        _ = try store.add(other)
        _ = try store.update(Sample.search([.account: .string("bob")])) { $0 }
        store.close()
        try fixture.tamper(
            "DROP INDEX item_uuid", "DROP INDEX item_primary_key",
            "CREATE TEMP TABLE held AS SELECT id, \(column) AS value FROM item",
            "UPDATE item SET \(column) = (SELECT value FROM held WHERE held.id <> item.id)",
            "CREATE UNIQUE INDEX item_uuid ON item (uuid)", "CREATE UNIQUE INDEX item_primary_key ON item (primary_key)"
        )
        store = try fixture.open()
        let isShared = ["class", "generation", "tombstone", "access_group"].contains(column)
        for account in ["alice", "bob"] {
            let result = try store.search(Sample.search([.account: .string(account)]), limit: nil, withSecrets: true)
            #expect(result.records.isEmpty == !isShared, "\(account)")
            #expect(result.records.allSatisfy { $0.text == "data of \(account)" })
        }
        #expect(try store.inspector.inspect().damaged.count == (isShared ? 0 : 2))
    }

    @Test(
        "A half of an older version of a row does not open together with the newer half",
        arguments: ["metadata", "secret", "revision"])
    func splicedVersions(_ column: String) throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        store.close()
        let old = try #require(try fixture.texts("SELECT quote(\(column)) FROM item").first)
        store = try fixture.open()
        _ = try store.update(Sample.search()) { $0 }
        store.close()
        try fixture.tamper("UPDATE item SET \(column) = \(old)")
        store = try fixture.open()
        let result = try store.search(Sample.search(), limit: nil, withSecrets: true)
        #expect(result.records.isEmpty)
        #expect(result.damaged.count == 1)
    }

    @Test("T203, T205, T212, T213: a damaged row is skipped and reported, and does not affect other rows")
    func passedOver() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        for account in ["alice", "bob", "carol"] { _ = try store.add(Sample.item(account)) }
        store.close()
        try fixture.tamper("UPDATE item SET metadata = zeroblob(200) WHERE id = 2")
        store = try fixture.open()
        let all = try store.search(Sample.search(), limit: nil, withSecrets: true)
        #expect(all.records.compactMap(\.text) == ["data of alice", "data of carol"])
        #expect(all.damaged.count == 1)
        let bob = Sample.search([.account: .string("bob")])
        #expect(try store.search(bob, limit: nil, withSecrets: false).records.isEmpty)
        #expect(try store.update(bob) { $0 } == 0)
        #expect(try store.remove(bob, now: 200) == 0)
        #expect(try store.inspector.inspect().damaged.count == 1)
    }

    @Test(
        "T204: adding over a damaged row succeeds and keeps the old one in quarantine",
        arguments: ["metadata", "secret"])
    func quarantine(_ half: String) throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        store.close()
        try fixture.tamper("UPDATE item SET \(half) = zeroblob(200)")
        store = try fixture.open()
        _ = try store.add(Sample.item("alice", data: "new"))
        let result = try store.search(Sample.search(), limit: nil, withSecrets: true)
        #expect(result.records.map(\.text) == ["new"])
        #expect(result.damaged.isEmpty)
        #expect(try store.inspector.quarantinedRows() == 1)
        store.close()
        #expect(try fixture.numbers("SELECT length(\(half)) FROM quarantine") == [200])
    }

    @Test("An update to the primary key of a damaged row also moves that row to quarantine")
    func updateOntoDamaged() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        _ = try store.add(Sample.item("bob"))
        store.close()
        try fixture.tamper("UPDATE item SET secret = zeroblob(200) WHERE id = 2")
        store = try fixture.open()
        #expect(
            try store.update(Sample.search([.account: .string("alice")])) {
                var changed = $0
                changed.attributes = Sample.item("bob").attributes
                return changed
            } == 1)
        #expect(
            try store.search(Sample.search(), limit: nil, withSecrets: true).records.map(\.text) == ["data of alice"])
        #expect(try store.inspector.quarantinedRows() == 1)
    }
}
