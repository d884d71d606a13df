// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// Searching passwords by any subset of their lookup attributes.
@Suite("Searches by lookup attributes")
struct LookupSearchTests {
    @Test("KDB-82: an item is found by every subset of its attributes, and by nothing else")
    func subsets() throws {
        let store = try LookupSample.store()
        let pairs = ["service": "s", "username": "alice", "note": ""]
        _ = try store.add(LookupSample.item(pairs, data: "one"))
        _ = try store.add(LookupSample.item(["service": "s", "username": "bob"], data: "two"))
        let names = Array(pairs.keys)
        for bits in 1..<1 << names.count {
            let subset = names.indices.filter { bits & 1 << $0 != 0 }.map { names[$0] }
            let condition = pairs.filter { subset.contains($0.key) }
            let expected = condition == ["service": "s"] ? ["one", "two"] : ["one"]
            #expect(try store.texts(condition) == expected, "\(condition)")
        }
        for other in [
            ["service": "S"], ["username": "s"], ["account": "alice"], ["service": "s", "username": "carol"],
            ["service": "s", "note": "x"], ["service": "s", "more": ""],
        ] {
            #expect(try store.texts(other) == [], "\(other)")
        }
        #expect(try store.texts([:]) == ["one", "two"])
        #expect(try store.texts(pairs, group: AccessGroup("G2", grade: .claimed)) == [])
        #expect(try store.texts(pairs, .internetPassword) == [])
    }

    @Test("KDB-82: an item of SecItem is found by the names of the Secret Service")
    func programs() throws {
        let store = try LookupSample.store()
        _ = try store.add(Sample.item("alice"))
        let service = "service of alice"
        for condition in [
            ["service": service], ["account": "alice"], ["username": "alice"], ["user": "alice"],
            ["service": service, "username": "alice", "xdg:schema": "org.freedesktop.Secret.Generic"],
        ] {
            #expect(try store.texts(condition) == ["data of alice"], "\(condition)")
        }
        #expect(try store.texts(["login": "alice"]) == [])
        let found = try store.search(
            LookupSample.search(["account": "alice"]), limit: nil, withSecrets: false
        ).records
        let shown = try LookupSample.map([
            "service": service, "account": "alice", "xdg:schema": "org.freedesktop.Secret.Generic",
        ])
        #expect(found.map(\.lookupAttributes) == [shown] && found.allSatisfy { $0.storedLookup == nil })
    }

    @Test("A stored item keeps exactly its map and its content type")
    func kept() throws {
        let store = try LookupSample.store()
        let pairs = ["xdg:schema": "org.git.Password", "server": "h", "protocol": "https", "user": "é"]
        let item = try LookupSample.item(pairs)
        _ = try store.add(item)
        let found = try store.search(
            LookupSample.search(["server": "h"], .internetPassword), limit: nil, withSecrets: true
        ).records
        #expect(found.map(\.storedLookup) == [item.storedLookup])
        #expect(found.map(\.contentType) == [ContentType("text/plain; charset=utf8")])
        #expect(found.first?[.protocol] == .string("htps") && found.first?[.account] == .string("é"))
        // SecItem finds it by its own names.
        let search = ItemSearch(
            .internetPassword, groups: .only([Sample.group]), attributes: [.server: .string("h")])
        #expect(try store.search(search, limit: nil, withSecrets: false).records.count == 1)
    }

    @Test("A search ends at its limit, and returns items in the order of their addition")
    func limits() throws {
        let store = try LookupSample.store()
        for number in 0..<20 {
            _ = try store.add(
                LookupSample.item(["all": "1", "number": "\(number)"], data: "\(number)").numbered(number))
        }
        let search = try LookupSample.search(["all": "1"])
        #expect(
            try store.search(search, limit: 3, withSecrets: true).records.compactMap(\.text) == ["0", "1", "2"])
        #expect(try store.texts(["all": "1"]) == (0..<20).map { "\($0)" })
    }

    // MARK: By index

    @Test(
        "KDB-82: a search with any further criteria is by index",
        arguments: [
            (1, false, "SEARCH found USING PRIMARY KEY (token=?)"),
            (3, false, "SEARCH found USING PRIMARY KEY (token=?)"), (2, true, "item_uuid"),
        ])
    func plans(_ count: Int, _ hasIdentifier: Bool, _ step: String) throws {
        let store = try LookupSample.store()
        var search = try LookupSample.search(
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("name \($0)", "v") }))
        search.attributes = [.account: .string("a"), .label: .string("l")]
        if hasIdentifier { search.identifier = .random() }
        let condition = search
        let plan = try store.read { (database, seal) throws(StoreError) in
            let tokens = condition.lookupTokens(seal)
            let form = condition.form(seal.columns, .lookup(tokens.count))
            return try database.plan(form.sql)
        }
        #expect(plan.first?.contains(step) == true, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE") && !hasIdentifier }, "\(plan)")
    }

    @Test("A search begins with a rare token, and with none if a token has no item")
    func order() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let items = try (0..<100).map { number in
            try LookupSample.item(["schema": "shared", "half": "\(number % 2)", "own": "\(number)"]).numbered(number)
        }
        _ = try store.add(items)
        func ordered(_ pairs: [(String, String)]) throws -> [String]? {
            let maps = try pairs.map { (name: $0.0, map: try LookupAttributes([$0])) }
            return try store.read { (database, seal) throws(StoreError) in
                var names: [SearchToken: String] = [:]
                for (name, map) in maps {
                    var search = ItemSearch(.genericPassword, groups: .only([Sample.group]))
                    search.lookup = .subset(map)
                    for token in search.lookupTokens(seal) { names[token] = name }
                }
                let tokens = pairs.compactMap { pair in names.first { $0.value == pair.0 }?.key }
                return try LookupTable.ordered(tokens, in: database)?.compactMap { names[$0] }
            }
        }
        #expect(try ordered([("schema", "shared"), ("half", "1"), ("own", "7")])?.first == "own")
        #expect(try ordered([("schema", "shared"), ("half", "1")])?.first == "half")
        #expect(try ordered([("schema", "shared"), ("own", "100")]) == nil)
        #expect(try ordered([("own", "100")]) == ["own"])
    }

    // MARK: Locked

    @Test("KDB-83: while a class is closed, its matching items are reported without names, and no others")
    func locked() throws {
        let store = try LookupSample.store()
        try store.passcode.set(ConstraintFixture.passcode("the passcode"), cost: ConstraintFixture.cost)
        let item = try store.add(LookupSample.item(["service": "s", "username": "alice"], data: "locked"))
        _ = try store.add(LookupSample.item(["service": "s", "username": "bob"], data: "open", .always))
        let program = try store.add(Sample.item("alice"))
        store.lock(immediately: true)
        func find(_ pairs: [String: String], _ change: (inout ItemSearch) -> Void = { _ in }) throws -> SearchResult {
            var search = try LookupSample.search(pairs)
            change(&search)
            return try store.search(search, limit: nil, withSecrets: true)
        }
        let both = try find(["service": "s"])
        #expect(both.records.compactMap(\.text) == ["open"])
        #expect(both.locked == [LockedItem(item.persistentReference, Sample.group)])
        #expect(try find(["service": "s", "username": "carol"]).locked == [])
        #expect(
            try find(["username": "alice"]).locked == [
                LockedItem(item.persistentReference, Sample.group),
                LockedItem(program.persistentReference, Sample.group),
            ])
        #expect(try find([:]).locked.count == 2)
        // A match that tokens do not decide is not reported: the search needs the class.
        for change in [
            { $0.attributes = [.comment: .string("c")] }, { $0.groups = .all(.claimed) },
            { $0.match.ignoresCase = true },
        ] as [(inout ItemSearch) -> Void] {
            #expect(throws: StoreError.self) { _ = try find(["service": "s"], change) }
        }
        try store.unlock(ConstraintFixture.passcode("the passcode"), floor: ConstraintFixture.cost)
        #expect(try store.texts(["service": "s"]) == ["locked", "open"])
    }

    // MARK: Tampering

    @Test("KDB-82: tokens of another item find nothing that does not have the attributes; a repair removes them")
    func foreignTokens() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        for name in ["alice", "bob"] { _ = try store.add(LookupSample.item(["username": name], data: name)) }
        store.close()
        try fixture.tamper(
            "INSERT OR IGNORE INTO lookup SELECT token, (SELECT max(id) FROM item) FROM lookup",
            "INSERT INTO lookup SELECT x'00', min(id) FROM item")
        store = try fixture.open()
        #expect(try store.texts(["username": "alice"]) == ["alice"])
        #expect(try store.texts(["username": "bob"]) == ["bob"])
        #expect(try store.inspector.inspect().damaged.count == 2)
        #expect(try store.inspector.repair(.moveDamaged, dryRun: false) == 2)
        #expect(try store.inspector.inspect().damaged.isEmpty && store.inspector.quarantinedRows() == 0)
        #expect(try store.texts(["username": "alice"]) == ["alice"])
    }

    @Test("Without its tokens an item is found by its other names, is reported, and is found again after a repair")
    func missingTokens() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        _ = try store.add(LookupSample.item(["service": "s", "username": "alice"]))
        store.close()
        try fixture.tamper("DELETE FROM lookup")
        store = try fixture.open()
        #expect(try store.texts(["username": "alice"]) == [])
        let search = Sample.search([.account: .string("alice"), .service: .string("s")])
        #expect(try store.search(search, limit: nil, withSecrets: true).records.count == 1)
        #expect(try store.inspector.inspect().damaged.map(\.reason) == ["its lookup tokens do not match"])
        #expect(try store.inspector.repair(.moveDamaged, dryRun: true) == 1)
        #expect(try store.inspector.repair(.moveDamaged, dryRun: false) == 1)
        #expect(try store.texts(["username": "alice"]) == ["the data"])
    }

    @Test(
        "KDB-80: malformed lookup attributes are damage of the row",
        arguments: [[0], [0, 1, 0x61], [0, 0, 0, 0]] as [[UInt8]])
    func malformed(_ bytes: [UInt8]) throws {
        var record = try LookupSample.item(["a": "1"])
        record.storedLookup = nil
        let clear = ClearColumns(
            identifier: .random(), itemClass: .genericPassword, protection: .whenUnlocked, generation: 1, revision: 1,
            isSynchronizable: false, isTombstone: false)
        let length = UInt32(bytes.count).bigEndianBytes
        let field = Array("lkup".utf8) + [2] + length + bytes
        // The field is between `labl` or `cusi`, and `mdat`: the fields are in the order of their names.
        var fields: [[UInt8]] = []
        var rest = MetadataCoding.encode(record)
        while rest.count >= 9 {
            let count = 9 + rest[5..<9].reduce(0) { $0 << 8 | Int($1) }
            fields.append(Array(rest.prefix(count)))
            rest.removeFirst(count)
        }
        let all = (fields + [field]).sorted { $0.prefix(4).lexicographicallyPrecedes($1.prefix(4)) }
        #expect(throws: RowDamage.self) {
            _ = try all.flatMap { $0 }.withUnsafeBytes { try MetadataCoding.decode($0, clear: clear) }
        }
        let without = fields.flatMap { $0 }
        #expect(try without.withUnsafeBytes { try MetadataCoding.decode($0, clear: clear) }.storedLookup == nil)
    }
}

extension ItemRecord {
    fileprivate func numbered(_ number: Int) -> ItemRecord { withAccountNumber(UInt32(number)) }
}
