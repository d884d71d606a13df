// SPDX-License-Identifier: Apache-2.0

import struct Crypto.SymmetricKey
import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import SQLiteConnections
import SecretMemory
import Synchronization
import Testing

@Suite("The store")
struct KeychainStoreTests {
    @Test("The columns of search tokens are exactly the schema's indexed attributes")
    func tokenColumns() {
        let indexed = Set(ItemClass.stored.flatMap { ItemSchema.of($0).columns.filter(\.isIndexed).map(\.attribute) })
        #expect(Set(DatabaseSchema.tokenColumns) == indexed)
    }

    @Test(
        "Each indexed search uses its own index, and does not read the whole group",
        arguments: [
            (ItemClass.genericPassword, [ItemAttribute.account, .service], "item_acct (acct=? AND svce=? AND srvr=?)"),
            (.genericPassword, [.account], "item_acct (acct=?"), (.genericPassword, [.service], "item_svce (svce=?)"),
            (.internetPassword, [.account, .server], "item_acct (acct=? AND svce=? AND srvr=?)"),
            (.internetPassword, [.server], "item_srvr (srvr=?)"), (.genericPassword, [.label], "item_labl (labl=?)"),
            (.key, [.applicationTag], "item_atag (atag=?)"), (.key, [.applicationLabel], "item_klbl (klbl=?)"),
            (.certificate, [.publicKeyHash], "item_pkhh (pkhh=?)"), (.certificate, [.subject], "item_subj (subj=?)"),
            (.certificate, [.issuer], "item_issr (issr=?)"),
            (.genericPassword, [], "item_group (class=? AND access_group=?)"),
        ])
    func queryPlans(_ itemClass: ItemClass, _ attributes: [ItemAttribute], _ index: String) throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let plan = try store.read { (database, seal) throws(StoreError) in
            let search = ItemSearch(
                itemClass, groups: .only([Sample.group]),
                attributes: Dictionary(uniqueKeysWithValues: attributes.map { ($0, .string("x")) }))
            return try database.plan(search.form(seal.columns).sql)
        }
        #expect(plan.first?.contains(index) == true, "\(plan)")
    }

    @Test(
        "A search of several groups, one of them named twice, returns each item once in order, and sorts no rows before",
        arguments: [
            (1, false), (2, false), (5, false), (16, false), (17, false), (100, false), (1, true), (3, true),
            (16, true), (17, true),
        ],
        [false, true])
    func severalGroups(_ groupCount: (count: Int, isAll: Bool), hasClass: Bool) throws {
        let count = groupCount.count
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let groups = (0..<count).map { AccessGroup("G\($0)", grade: .claimed) }
        for number in 0..<40 {
            var record = Sample.item("item-\(number)")
            record.accessGroup = groups[number * 7 % count]
            _ = try store.add(record)
        }
        let attributes: [ItemAttribute: AttributeValue] =
            hasClass ? [.accessible: .string(ProtectionClass.whenUnlocked.rawValue)] : [:]
        let search = ItemSearch(
            .genericPassword, groups: groupCount.isAll ? .all(.claimed) : .only(groups + groups.prefix(1)),
            attributes: attributes)
        let found = try store.search(search, limit: nil, withSecrets: false).records.map { $0[.account]?.text }
        #expect(found == (0..<40).map { "item-\($0)" })
        #expect(try store.search(search, limit: 3, withSecrets: false).records.count == 3)
        let steps = try store.read { (database, seal) throws(StoreError) in
            var form = search.form(seal.columns)
            var parameters = search.parameters(form, seal.tokens)
            try ItemTransaction.nameGroups(of: &form, &parameters, in: database)
            return try database.plan(form.sql)
        }
        let index = "INDEX item_group (class=?\(groupCount.isAll && count > 16 ? "" : " AND access_group=?"))"
        #expect(steps.count { $0.contains(index) } == (count > 16 ? 1 : count), "\(steps)")
        #expect(!steps.contains { $0.contains("ORDER BY") }, "\(steps)")
    }

    @Test("T059: attributes are read without the key of the secret half")
    func metadataNeedsNoSecretKey() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        let row = try #require(
            try store.read { (database, seal) throws(StoreError) in
                var rows: [ItemRow] = []
                try store.items(database, seal).forEachCandidate(of: Sample.search()) { (row) throws(StoreError) in
                    rows.append(row)
                    return true
                }
                return rows.first.map { ($0, seal.keyring) }
            })
        let spy = KeyringSpy(row.1)
        #expect(try RowSeal(keyring: spy).open(row.0)[.account] == .string("alice"))
        #expect(spy.halves == [.metadata])
        _ = try RowSeal(keyring: spy).openSecrets(of: row.0)
        #expect(spy.halves == [.metadata, .secret])
    }

    @Test("The connections have the settings that durability and erasure require")
    func settings() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let expected: [(String, Int64)] = [
            ("synchronous", 2), ("secure_delete", 1), ("temp_store", 2), ("trusted_schema", 0),
            ("cell_size_check", 1), ("busy_timeout", 60_000), ("foreign_keys", 0),
        ]
        for (name, value) in expected {
            let found = try store.write { (database, _) throws(StoreError) in
                let statement = try RowStatement("PRAGMA \(name)", in: database)
                _ = try statement.step()
                return statement.integer(0)
            }
            #expect(found == value, "\(name)")
        }
        #expect(throws: StoreError.self) {
            try store.write { (database, _) throws(StoreError) in
                _ = try RowStatement("UPDATE sqlite_schema SET sql = ''", in: database).run()
            }
        }
        #expect(try fixture.texts("PRAGMA journal_mode") == ["wal"])
    }

    @Test("A connection that a call leaves inside of a transaction is closed, and the next call uses another one")
    func openTransaction() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try store.connections.exclusively { (database) throws(StoreError) in
            try RowStatement("BEGIN IMMEDIATE", in: database).run()
        }
        _ = try store.add(Sample.item("alice"))
        #expect(try fixture.numbers("SELECT count(*) FROM item") == [1])
    }

    @Test("Every write uses new keys and nonces, and increments the revision")
    func freshSeals() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        func halves() throws -> [[UInt8]] {
            try #require(
                try Database(fixture.path).rows("SELECT metadata, secret FROM item") { row in
                    (0..<2).map { row.bytes($0) }
                }.first)
        }
        let first = try halves()
        _ = try store.update(Sample.search()) { $0 }
        let second = try halves()
        #expect(try fixture.numbers("SELECT revision FROM item") == [2])
        for (one, other) in zip(first, second) {
            #expect(one.prefix(40) != other.prefix(40), "the wrapped key")
            #expect(one[40..<52] != other[40..<52], "the nonce")
        }
    }

    @Test("Row halves have the lengths of the padding steps for any content")
    func paddedLengths() throws {
        #expect([0, 1, 60, 61, 124, 125, 1020].map(Padding.paddedLength) == [64, 64, 64, 128, 128, 192, 1024])
        for count in stride(from: 1021, to: 3_000_000, by: 997) {
            let padded = Padding.paddedLength(for: count)
            #expect(padded >= count + 4)
            #expect(Double(padded) < Double(count + 4) * 1.12)
        }
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice", data: "x"))
        _ = try store.add(Sample.item("bob", data: String(repeating: "x", count: 40)))
        let lengths = try fixture.numbers("SELECT length(secret) FROM item")
        #expect(lengths == [40 + 12 + 64 + 16, 40 + 12 + 64 + 16])
    }

    @Test("T219: a reader during an open write sees the old state and does not wait for it")
    func readerDuringWrite() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice", data: "old"))
        var seen: String?
        _ = try store.update(Sample.search()) { record in
            var changed = record
            changed.secrets?.data = SharedSecret(copying: "new".utf8)
            // The write transaction is open now. Another thread reads.
            let answer = Mutex<String?>(nil)
            let thread = Thread {
                answer.withLock {
                    $0 = (try? store.search(Sample.search(), limit: 1, withSecrets: true))?.records.first?.text ?? "?"
                }
            }
            thread.start()
            #expect(eventually { thread.isFinished })
            seen = answer.withLock { $0 }
            return changed
        }
        #expect(seen == "old")
        #expect(try store.search(Sample.search(), limit: 1, withSecrets: true).records.first?.text == "new")
    }

    @Test("An update that is refused halfway changes nothing")
    func atomicUpdate() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for account in ["a", "b", "c"] { _ = try store.add(Sample.item(account)) }
        #expect(throws: StoreError.self) {
            _ = try store.update(Sample.search()) { record throws(KeychainError) in
                guard record[.account] != .string("c") else { throw .parameter("refused") }
                var changed = record
                changed.attributes[.comment] = .string("changed")
                return changed
            }
        }
        #expect(
            try store.search(Sample.search([.comment: .string("changed")]), limit: nil, withSecrets: false).records
                .isEmpty)
    }

    @Test("Remains: deleted and replaced data is in no file after the checkpoint")
    func remains() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        _ = try store.add(Sample.item("bob"))
        let old = try Database(fixture.path).rows("SELECT secret FROM item UNION ALL SELECT metadata FROM item") {
            Data($0.bytes(0))
        }
        #expect(old.count == 4)
        _ = try store.update(Sample.search([.account: .string("alice")])) { $0 }
        _ = try store.remove(Sample.search([.account: .string("bob")]), now: 0)
        func exists(_ half: Data) throws -> Bool {
            try fixture.temporary.files().values.contains { Data($0).range(of: half) != nil }
        }
        #expect(try old.contains(where: exists), "positive control: before the checkpoint the log still holds them")
        try store.checkpoint()
        for half in old { #expect(try !exists(half)) }
        let log = try fixture.temporary.files()["keychain.db-wal"] ?? []
        #expect(log.isEmpty)
    }

    @Test("An idle store empties its log", .long)
    func idleCheckpoint() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        func logLength() throws -> Int { try fixture.temporary.files()["keychain.db-wal"]?.count ?? 0 }
        #expect(try logLength() > 0)
        #expect(try eventually { try logLength() == 0 })
        _ = try store.search(Sample.search(), limit: 1, withSecrets: true)
    }

    @Test("Every call of a closed store throws an error")
    func closed() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        store.close()
        store.close()
        #expect(throws: StoreError.self) { _ = try store.search(Sample.search(), limit: 1, withSecrets: true) }
        #expect(throws: StoreError.self) { _ = try store.add(Sample.item("bob")) }
        #expect(throws: StoreError.self) { try store.checkpoint() }
        usleep(2_500_000)  // Longer than the delay after which the log would be emptied.
    }

    @Test("T220: threads that open a new keychain at once share one set of keys")
    func firstUseRace() throws {
        let fixture = try StoreFixture()
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            do {
                _ = try fixture.open().add(Sample.item("account \(number)"))
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try fixture.open().search(Sample.search(), limit: nil, withSecrets: true).records.count == 8)
    }

    @Test("The next transaction notices a change of the keybag by another process")
    func reload() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        try fixture.tamper("UPDATE keybag SET generation = 2, device_tag = zeroblob(32)")
        #expect(throws: StoreError.self) { _ = try store.search(Sample.search(), limit: 1, withSecrets: true) }
        #expect(throws: StoreError.self) { _ = try store.add(Sample.item("bob")) }
    }

    @Test(
        "An old keybag and the device key open nothing that was added after the passcode was set, or after its keys were rotated"
    )
    func oldKeybag() throws {
        func passcode(_ text: String) throws -> Passcode { try Passcode(SharedSecret(copying: text.utf8)) }
        for rotates in [false, true] {
            let fixture = try StoreFixture()
            var store = try fixture.open()
            if rotates { try store.passcode.set(try passcode("the old one"), cost: PasscodeCost(exponent: 10)) }
            _ = try store.add(Sample.item("before"))
            store.close()
            let replacing = try fixture.replacingKeybag()
            store = try fixture.open()
            if rotates {
                try store.passcode.change(
                    from: try passcode("the old one"), to: try passcode("the new one"), rotates: true,
                    cost: PasscodeCost(exponent: 10))
                try store.unlock(try passcode("the new one"), floor: PasscodeCost(exponent: 10))
            } else {
                try store.passcode.set(try passcode("the new one"), cost: PasscodeCost(exponent: 10))
            }
            _ = try store.add(Sample.item("after"))
            #expect(try store.search(Sample.search(), limit: nil, withSecrets: true).records.count == 2)
            store.close()
            // An attacker with an old copy puts its keybag into the new database, and uses the
            // passcode of that time.
            try fixture.tamper(replacing)
            store = try fixture.open()
            if rotates { try store.unlock(try passcode("the old one"), floor: PasscodeCost(exponent: 10)) }
            let found = try store.search(Sample.search(), limit: nil, withSecrets: true)
            #expect(found.records.isEmpty && found.damaged.count == 2)
            store.close()
        }
    }
}

/// Records the row halves of the requested keys.
private final class KeyringSpy: ItemKeyWrapping {
    private let keyring: any ItemKeyWrapping
    private let seen = Mutex<[RowHalf]>([])

    init(_ keyring: any ItemKeyWrapping) { self.keyring = keyring }

    var presence: PresenceRecipients { keyring.presence }

    var halves: [RowHalf] { seen.withLock { $0 } }
    var keychain: [UInt8] { keyring.keychain }
    var generation: UInt64 { keyring.generation }
    var tokenKey: TokenKey { keyring.tokenKey }

    func currentGeneration(of protection: ProtectionClass) throws(KeybagError) -> UInt32 {
        try keyring.currentGeneration(of: protection)
    }

    func wrap(_ key: SymmetricKey, of half: RowHalf, protection: ProtectionClass, generation: UInt32)
        throws(KeybagError) -> [UInt8]
    {
        try keyring.wrap(key, of: half, protection: protection, generation: generation)
    }

    func unwrap(
        _ wrapped: ArraySlice<UInt8>, of half: RowHalf, protection: ProtectionClass, generation: UInt32
    ) throws(KeybagError) -> SymmetricKey {
        seen.withLock { $0.append(half) }
        return try keyring.unwrap(wrapped, of: half, protection: protection, generation: generation)
    }
}
