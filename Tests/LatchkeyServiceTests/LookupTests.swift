// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Passwords as clients of the Secret Service and programs of SecItem see them, through every backend.
@Suite("Passwords with lookup attributes")
struct LookupTests {
    private static func map(_ pairs: [String: String]) throws -> LookupAttributes {
        try LookupAttributes(pairs.map { (name: $0.key, value: $0.value) })
    }

    @discardableResult
    private static func store(
        _ pairs: [String: String], _ data: String, replaces: Bool = true, in keychain: TestKeychain
    ) throws -> ItemRecord {
        try keychain.service.by(TestKeychain.caller).add(
            ItemAddition(
                map(pairs), label: "label of \(data)", data: SharedSecret(copying: data.utf8),
                contentType: ContentType("text/plain"), replaces: replaces))
    }

    private static func query(_ pairs: [String: String]) throws -> ItemQuery {
        var query = ItemQuery(nil, limit: .all)
        query.lookupAttributes = try map(pairs)
        return query
    }

    /// The data of the items that a client of the Secret Service finds.
    private static func find(_ pairs: [String: String], in keychain: TestKeychain) throws -> [String] {
        do throws(KeychainError) {
            return try keychain.service.by(TestKeychain.caller).copyMatching(
                (try? query(pairs)) ?? ItemQuery(nil), returning: [.data, .attributes]
            ).records.map { record in
                record.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
            }
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }

    @Test(
        "A client's item is found by any subset, with its map, its label and its content type",
        arguments: Backend.allCases)
    func store(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let pairs = ["service": "s", "username": "alice", "note": "é"]
        let stored = try Self.store(pairs, "one", in: keychain)
        #expect(stored.storedLookup == (try? Self.map(pairs)))
        let found = try keychain.service.by(TestKeychain.caller).copyMatching(
            Self.query(["note": "é"]), returning: [.data, .attributes]
        ).records
        #expect(found.map(\.identifier) == [stored.identifier])
        #expect(found.first?.lookupAttributes == (try? Self.map(pairs)))
        #expect(found.first?.contentType == ContentType("text/plain"))
        #expect(found.first?[.label] == .string("label of one") && found.first?[.account] == .string("alice"))
        #expect(try Self.find(["note": "e"], in: keychain) == [])
        // Data alone has the content type.
        let data = try keychain.service.by(TestKeychain.caller).copyMatching(
            Self.query(["note": "é"]), returning: .data)
        #expect(data.records.first?.contentType == ContentType("text/plain"))
    }

    @Test("A query without a class finds passwords of both classes, up to its limit", arguments: Backend.allCases)
    func bothClasses(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try Self.store(["server": "h", "protocol": "https", "user": "alice"], "network", in: keychain)
        try Self.store(["server": "h", "username": "alice"], "generic", in: keychain)
        #expect(try Self.find(["server": "h"], in: keychain) == ["generic", "network"])
        var query = try Self.query(["server": "h"])
        for (limit, count) in [(MatchLimit.one, 1), (.atMost(1), 1), (.atMost(5), 2)] {
            query.limit = limit
            let found = try keychain.service.by(TestKeychain.caller).copyMatching(query, returning: .attributes)
            #expect(found.records.count == count)
        }
        query.itemClass = .internetPassword
        let found = try keychain.service.by(TestKeychain.caller).copyMatching(query, returning: .attributes)
        #expect(found.records.map(\.itemClass) == [.internetPassword])
    }

    // MARK: Replacing

    @Test("Exactly the same attributes replace, in one operation; a subset never does", arguments: Backend.allCases)
    func replacing(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let first = try Self.store(["service": "s", "username": "alice"], "one", in: keychain)
        let second = try Self.store(["service": "s", "username": "alice"], "two", in: keychain)
        #expect(second.identifier == first.identifier && second.created == first.created)
        #expect(second.modified > first.modified && second[.label] == .string("label of two"))
        try Self.store(["username": "alice"], "subset", in: keychain)
        #expect(try Self.find(["username": "alice"], in: keychain) == ["two", "subset"])
        try Self.store(["service": "s", "username": "alice"], "another", replaces: false, in: keychain)
        #expect(try Self.find(["service": "s"], in: keychain) == ["two", "another"])
        // SecItem sees three items.
        #expect(try keychain.find(limit: .all) == ["two", "another"])
        #expect(try keychain.find("alice (2)") == ["another"])
    }

    // MARK: SecItem and clients

    @Test(
        "An item of SecItem is found, changed and deleted by a client of the Secret Service",
        arguments: Backend.allCases)
    func fromPrograms(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let item = try keychain.add("alice", .whenUnlocked, data: "one")
        #expect(try Self.find(["service": "s", "username": "alice"], in: keychain) == ["one"])
        // Python's keyring sets another password, with its own attributes.
        let changed = try Self.store(
            ["service": "s", "username": "alice", "application": "Python keyring library"], "two", in: keychain)
        #expect(changed.identifier == item.identifier)
        #expect(try keychain.find("alice") == ["two"])
        #expect(try Self.find(["service": "s", "username": "alice"], in: keychain) == ["two"])
        _ = try keychain.service.by(TestKeychain.caller).delete(
            ItemQuery(nil, persistentReference: changed.persistentReference))
        #expect(try Self.find(["service": "s"], in: keychain) == [])
    }

    @Test(
        "An item of a client is found, changed and deleted by SecItem, and the client sees the change",
        arguments: Backend.allCases)
    func fromClients(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try Self.store(["service": "s", "username": "alice", "note": "n"], "one", in: keychain)
        #expect(try keychain.find("alice") == ["one"])
        try keychain.update("alice", ItemUpdate(data: SharedSecret(copying: "two".utf8)))
        #expect(try Self.find(["username": "alice", "note": "n"], in: keychain) == ["two"])
        try keychain.update("alice", ItemUpdate(attributes: [.account: .string("bob")]))
        #expect(try Self.find(["username": "alice"], in: keychain) == [])
        let found = try keychain.service.by(TestKeychain.caller).copyMatching(
            Self.query(["username": "bob"]), returning: .attributes)
        #expect(
            found.records.map(\.lookupAttributes) == [try? Self.map(["service": "s", "username": "bob", "note": "n"])])
        // A label is not part of the map.
        try keychain.update("bob", ItemUpdate(attributes: [.label: .string("l")]))
        #expect(try Self.find(["username": "bob", "note": "n"], in: keychain) == ["two"])
        try keychain.delete("bob")
        #expect(try Self.find([:], in: keychain) == [])
    }

    @Test("New lookup attributes change the account that SecItem sees", arguments: Backend.allCases)
    func newAttributes(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let item = try Self.store(["service": "s", "username": "alice"], "one", in: keychain)
        let other = try Self.store(["service": "s", "username": "bob"], "two", in: keychain)
        func set(_ pairs: [String: String], of record: ItemRecord) throws {
            var update = ItemUpdate()
            update.lookupAttributes = try Self.map(pairs)
            update.contentType = ContentType("application/json")
            _ = try keychain.service.by(TestKeychain.caller).update(
                ItemQuery(nil, persistentReference: record.persistentReference), with: update)
        }
        try set(["service": "s", "username": "bob", "n": "2"], of: item)
        #expect(try keychain.find("bob") == ["two"] && keychain.find("bob (2)") == ["one"])
        #expect(try Self.find(["username": "alice"], in: keychain) == [])
        #expect(try Self.find(["username": "bob"], in: keychain) == ["one", "two"])
        try set(["service": "s", "login": "carol"], of: other)
        #expect(try keychain.find("carol") == ["two"])
    }

    // MARK: Locked

    @Test(
        "A locked item is reported without its names, and SecItem still says that it is locked",
        arguments: Backend.allCases)
    func locked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        let generic = try Self.store(["server": "h", "username": "alice"], "one", in: keychain)
        let network = try Self.store(["server": "h", "protocol": "https", "user": "alice"], "two", in: keychain)
        try keychain.service.administrator.lock(immediately: true)
        var query = try Self.query(["server": "h"])
        query.accessGroup = "G1"
        let found = try keychain.service.by(TestKeychain.caller).copyMatching(query, returning: .data)
        #expect(found.records.isEmpty)
        #expect(
            found.locked
                == [generic, network].map {
                    LockedItem($0.persistentReference, AccessGroup("G1", grade: .claimed))
                })
        query.lookupAttributes = try Self.map(["server": "h", "protocol": "ftp"])
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(TestKeychain.caller).copyMatching(query, returning: .data).required()
            } == -25300)
        let program = ItemQuery(.genericPassword, attributes: [.service: .string("h")])
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(TestKeychain.caller).copyMatching(program, returning: .data)
            } == -25308)
        let addition = ItemAddition(
            try Self.map(["server": "h", "username": "alice"]), label: "l", data: SharedSecret(copying: "x".utf8),
            contentType: nil, replaces: true)
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(TestKeychain.caller).add(addition)
            } == -25308)
        try keychain.unlock()
        #expect(try Self.find(["server": "h"], in: keychain) == ["one", "two"])
    }

    @Test("Another program's groups are not searched, also while they are locked", arguments: Backend.allCases)
    func groups(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try Self.store(["username": "alice"], "one", in: keychain)
        let query = try Self.query(["username": "alice"])
        let other = CallerIdentity(executable: "/usr/bin/other", declaredGroups: ["G2"])
        for isLocked in [false, true] {
            if isLocked { try keychain.service.administrator.lock(immediately: true) }
            #expect(
                status { () throws(KeychainError) in
                    _ = try keychain.service.by(other).copyMatching(query, returning: .attributes).required()
                } == -25300)
        }
    }

    // MARK: Refusals

    @Test("An item that cannot have lookup attributes, or contradicts them, is refused", arguments: Backend.allCases)
    func refused(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let map = try Self.map(["username": "alice"])
        func add(_ change: (inout ItemAddition) -> Void, _ itemClass: ItemClass = .genericPassword) -> Int32 {
            var item = ItemAddition(itemClass)
            change(&item)
            let addition = item
            return status { () throws(KeychainError) in
                _ = try keychain.service.by(TestKeychain.caller).add(addition)
            }
        }
        #expect(add({ $0.lookupAttributes = map }, .certificate) == -50)
        #expect(add({ $0.contentType = ContentType("text/plain") }, .certificate) == -50)
        #expect(add({ $0.replaces = true }) == -50)
        #expect(
            add({ item in
                item.lookupAttributes = map
                item.attributes = [.account: .string("bob")]
            }) == -50)
        for itemClass in [ItemClass.certificate, .key] {
            var query = ItemQuery(itemClass)
            query.lookupAttributes = map
            let wanted = query
            #expect(
                status { () throws(KeychainError) in
                    _ = try keychain.service.by(TestKeychain.caller).copyMatching(wanted, returning: .attributes)
                } == -50)
        }
        #expect(add({ $0.lookupAttributes = map }) == 0)
        #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
    }
}
