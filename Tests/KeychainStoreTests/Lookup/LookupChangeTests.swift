// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import SecretMemory
import Testing

/// The tokens of an item live as long as it, and two maps are two items.
@Suite("Changes of items with lookup attributes")
struct LookupChangeTests {
    // MARK: Tokens

    /// The number of tokens, of tokens without their row, and of passwords without tokens.
    private static func tokens(_ fixture: StoreFixture) throws -> [Int] {
        try [
            "SELECT count(*) FROM lookup",
            "SELECT count(*) FROM lookup WHERE item NOT IN (SELECT id FROM item)",
            "SELECT count(*) FROM item WHERE class < 3 AND lookup_revision IS NOT revision",
        ].flatMap(fixture.numbers)
    }

    @Test("KDB-81: an item has one token for each attribute and one for all, and a deletion leaves none")
    func lifetime() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(LookupSample.item(["service": "s", "username": "alice", "note": "n"]))
        #expect(try Self.tokens(fixture) == [4, 0, 0])
        _ = try store.add(Sample.item("bob"))
        // service, account, user, username, xdg:schema
        #expect(try Self.tokens(fixture) == [9, 0, 0])
        #expect(try store.remove(LookupSample.search(["username": "alice"]), now: 200) == 1)
        #expect(try Self.tokens(fixture) == [5, 0, 0])
        #expect(try store.remove(Sample.search(), now: 200) == 1)
        #expect(try Self.tokens(fixture) == [0, 0, 0])
    }

    @Test("KDB-81: a tombstone has no tokens, and an item that takes its place has them")
    func tombstones() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var item = Sample.item("alice")
        item.isSynchronizable = true
        for _ in 1...2 {
            _ = try store.add(item)
            #expect(try Self.tokens(fixture) == [5, 0, 0])
            #expect(try store.remove(LookupSample.search(["account": "alice"]), now: 200) == 1)
            #expect(try Self.tokens(fixture) == [0, 0, 0])
        }
    }

    @Test("KDB-81: an update writes the tokens of the new attributes, and no others")
    func update() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(LookupSample.item(["service": "s", "username": "alice"]))
        let before = try fixture.texts("SELECT hex(token) || ' ' || item FROM lookup ORDER BY token")
        _ = try store.update(LookupSample.search(["username": "alice"])) { $0 }
        #expect(try fixture.texts("SELECT hex(token) || ' ' || item FROM lookup ORDER BY token") == before)
        let changed = try LookupSample.map(["service": "s", "username": "bob", "more": ""])
        _ = try store.update(LookupSample.search(["username": "alice"]), numbersAccounts: true) { record in
            var record = record
            record.setLookup(changed)
            return record
        }
        #expect(try Self.tokens(fixture) == [4, 0, 0])
        #expect(try store.texts(["username": "alice"]) == [] && store.texts(["more": ""]) == ["the data"])
    }

    @Test("KDB-81: setting, rotating and removing a passcode keep the tokens of kept items, also of constrained ones")
    func reseal() throws {
        let fixture = try ConstraintFixture()
        let store = fixture.store
        _ = try store.add(LookupSample.item(["service": "s", "username": "alice"]))
        _ = try store.add(LookupSample.item(["service": "s", "username": "bob"], .whenPasscodeSetThisDeviceOnly))
        try fixture.add("carol", .devicePasscode)
        let expected = try Self.tokens(fixture.files)
        #expect(expected == [3 + 3 + 5, 0, 0])
        try store.passcode.change(
            from: ConstraintFixture.passcode("secret"), to: ConstraintFixture.passcode("another one"), rotates: true,
            cost: ConstraintFixture.cost)
        #expect(try Self.tokens(fixture.files) == expected)
        try store.unlock(ConstraintFixture.passcode("another one"), floor: ConstraintFixture.cost)
        #expect(try store.texts(["service": "s"]) == ["the data", "the data"])
        #expect(
            try store.search(LookupSample.search(["user": "carol"]), limit: nil, withSecrets: false).records.count == 1)
        // It deletes bob and carol: the class of bob and the constraint of carol need a passcode.
        #expect(try store.passcode.remove(ConstraintFixture.passcode("another one")) == 2)
        #expect(try Self.tokens(fixture.files) == [3, 0, 0])
        #expect(try store.texts(["service": "s"]) == ["the data"])
    }

    @Test("KDB-81: a damaged row that is moved to quarantine leaves no tokens")
    func quarantine() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        store.close()
        try fixture.tamper("UPDATE item SET secret = zeroblob(200)")
        store = try fixture.open()
        _ = try store.add(Sample.item("alice", data: "new"))
        #expect(try store.inspector.quarantinedRows() == 1)
        #expect(try Self.tokens(fixture) == [5, 0, 0])
        #expect(try store.texts(["account": "alice"]) == ["new"])
    }

    @Test("KDB-41: no name and no value of a lookup attribute is in a file, nor as an unkeyed digest")
    func secrecy() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let words = ["the name of one", "the value of one"]
        _ = try store.add(LookupSample.item([words[0]: words[1]]))
        try store.checkpoint()
        store.close()
        for (_, bytes) in try fixture.temporary.files() {
            for word in words { #expect(Data(bytes).range(of: Data(word.utf8)) == nil) }
        }
    }

    // MARK: Two items

    @Test("KDB-87: items with different maps that mean the same to SecItem get numbers, and are two items")
    func numbers() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let accounts = try (0..<12).map { number in
            try store.addNumbered(LookupSample.item(["username": "alice", "n": "\(number)"], data: "\(number)"))
        }.map { $0[.account]?.text ?? "" }
        #expect(Array(accounts.prefix(8)) == ["alice"] + (2..<9).map { "alice (\($0))" })
        #expect(Set(accounts).count == 12)
        #expect(accounts.dropFirst(8).allSatisfy { $0.hasPrefix("alice (") })
        #expect(try store.texts(["username": "alice"]) == (0..<12).map { "\($0)" })
        #expect(try store.texts(["n": "3"]) == ["3"])
        // A map that is the same is a second item as well, if it does not replace.
        _ = try store.addNumbered(LookupSample.item(["username": "alice", "n": "3"], data: "again"))
        #expect(try store.texts(["n": "3"]) == ["3", "again"])
        // SecItem still finds a duplicate.
        #expect(throws: StoreError.self) { _ = try store.add(LookupSample.item(["username": "alice"])) }
    }

    @Test("KDB-87: a new map numbers the account again, and gives up a number that is not needed")
    func renumbering() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.addNumbered(LookupSample.item(["username": "alice", "n": "1"]))
        _ = try store.addNumbered(LookupSample.item(["username": "alice", "n": "2"]))
        func set(_ pairs: [String: String], for condition: [String: String]) throws -> String? {
            let map = try LookupSample.map(pairs)
            _ = try store.update(LookupSample.search(condition), numbersAccounts: true) { record in
                var record = record
                record.setLookup(map)
                return record
            }
            let found = try store.search(LookupSample.search(pairs), limit: 1, withSecrets: false)
            return found.records.first?[.account]?.text
        }
        #expect(try set(["username": "alice", "n": "3"], for: ["n": "2"]) == "alice (2)")
        #expect(try set(["username": "bob", "n": "1"], for: ["n": "1"]) == "bob")
        #expect(try set(["username": "alice", "n": "4"], for: ["n": "3"]) == "alice")
        // Without numbering it is a duplicate.
        _ = try store.addNumbered(LookupSample.item(["username": "alice", "n": "5"]))
        let map = try LookupSample.map(["username": "alice", "n": "6"])
        #expect(throws: StoreError.self) {
            _ = try store.update(try LookupSample.search(["n": "5"])) { record in
                var record = record
                record.setLookup(map)
                return record
            }
        }
    }

    @Test("KDB-86: only exactly the same attributes are replaced, or an item of SecItem with the same primary key")
    func replacing() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        func put(_ pairs: [String: String], _ data: String, group: AccessGroup = Sample.group) throws -> ItemIdentifier
        {
            let item = try LookupSample.item(pairs, data: data, group: group)
            let stored = try store.transaction { (items) throws(StoreError) -> ItemRecord in
                let changed = try items.replace(item) { old in
                    var changed = old
                    changed.secrets?.data = item.secrets?.data
                    if let attributes = item.storedLookup { changed.setLookup(attributes) }
                    return changed
                }
                if let changed { return changed }
                return try items.addNumbered(item)
            }
            return stored.identifier
        }
        let first = try put(["service": "s", "username": "alice", "n": "1"], "one")
        #expect(try put(["service": "s", "username": "alice", "n": "1"], "two") == first)
        #expect(try store.texts(["n": "1"]) == ["two"])
        // Neither a subset nor a superset is the same.
        let subset = try put(["service": "s", "username": "alice"], "subset")
        let superset = try put(["service": "s", "username": "alice", "n": "1", "m": "2"], "superset")
        #expect(Set([first, subset, superset]).count == 3)
        #expect(try store.texts(["service": "s"]) == ["two", "subset", "superset"])
        // Nor is an item of another group.
        let other = AccessGroup("G2", grade: .claimed)
        #expect(try put(["service": "s", "username": "alice"], "other", group: other) != subset)
        #expect(try store.texts(["service": "s", "username": "alice"], group: other) == ["other"])
        // An item of SecItem has no attributes of its own: its service and account identify it.
        let program = try store.add(Sample.item("carol"))
        let adopted = try put(["service": "service of carol", "username": "carol", "application": "x"], "adopted")
        #expect(adopted == program.identifier)
        #expect(try store.texts(["username": "carol"]) == ["adopted"])
        #expect(try store.texts(["account": "carol"]) == [], "it has the client's names now")
        #expect(
            try store.search(Sample.search([.account: .string("carol")]), limit: nil, withSecrets: true).records.count
                == 1)
        // Once a client has stored attributes, others are another item.
        #expect(try put(["service": "service of carol", "username": "carol"], "third") != program.identifier)
    }

    @Test("KDB-86: an item of a closed class is not replaced, and no second one is stored beside it")
    func replacingLocked() throws {
        let store = try LookupSample.store()
        try store.passcode.set(ConstraintFixture.passcode("the passcode"), cost: ConstraintFixture.cost)
        _ = try store.add(LookupSample.item(["username": "alice"]))
        store.lock(immediately: true)
        let item = try LookupSample.item(["username": "alice"], data: "new", .always)
        #expect(throws: StoreError.self) {
            try store.transaction { (items) throws(StoreError) in
                if try items.replace(item, { $0 }) == nil { _ = try items.addNumbered(item) }
            }
        }
        try store.unlock(ConstraintFixture.passcode("the passcode"), floor: ConstraintFixture.cost)
        #expect(try store.texts(["username": "alice"]) == ["the data"])
    }

    // MARK: Backups

    @Test("BAK-12: a restored item is found by its attributes; items that only mean the same to SecItem stay two items")
    func backup() throws {
        let (source, target) = (try LookupSample.store(), try LookupSample.store())
        _ = try source.addNumbered(LookupSample.item(["username": "alice", "n": "1"], data: "one"))
        _ = try source.addNumbered(LookupSample.item(["username": "alice", "n": "2"], data: "two"))
        _ = try source.add(Sample.item("bob"))
        _ = try target.addNumbered(LookupSample.item(["username": "alice", "n": "3"], data: "three"))
        let passphrase = try ConstraintFixture.passcode("the passphrase of the backup")
        var bytes: [UInt8] = []
        _ = try source.backups.write(
            under: passphrase, passcode: nil, cost: PasscodeCost(exponent: 10), now: 1000,
            to: { (part) throws(StoreError) in bytes += Array(part) })
        for _ in 1...2 {
            var rest = bytes[...]
            _ = try target.backups.restore(
                under: passphrase, passcode: nil, merges: true, dryRun: false,
                from: { (buffer) throws(StoreError) in
                    let count = min(buffer.count, rest.count)
                    buffer.copyBytes(from: rest.prefix(count))
                    rest = rest.dropFirst(count)
                    return count
                })
            #expect(try Set(target.texts(["username": "alice"])) == ["one", "two", "three"])
            #expect(try target.texts(["n": "2"]) == ["two"] && target.texts(["user": "bob"]) == ["data of bob"])
        }
        let found = try target.search(LookupSample.search(["n": "2"]), limit: nil, withSecrets: false).records
        #expect(found.map(\.contentType) == [ContentType("text/plain; charset=utf8")])
        #expect(try target.inspector.inspect().damaged.isEmpty)
    }
}
