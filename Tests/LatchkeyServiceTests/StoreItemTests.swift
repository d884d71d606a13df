// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Storing an item in the place of one that exists, through every backend.
@Suite("Store or replace")
struct StoreItemTests {
    private static func item(
        _ account: String, _ data: String?, group: String? = nil, isSynchronizable: Bool = false
    ) -> ItemAddition {
        ItemAddition(
            .genericPassword,
            attributes: [.account: .string(account), .service: .string("s"), .label: .string("new \(account)")],
            secrets: ItemSecrets(data: data.map { SharedSecret(copying: $0.utf8) }), accessGroup: group,
            isSynchronizable: isSynchronizable)
    }

    private static func query(_ account: String, _ scope: SynchronizableScope = .local) -> ItemQuery {
        ItemQuery(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")], synchronizable: scope)
    }

    @discardableResult
    private static func store(
        _ account: String, _ data: String, replaces: Bool = true, in keychain: TestKeychain
    ) throws(KeychainError) -> StoredRecord {
        try keychain.service.by(TestKeychain.caller).store(
            item(account, data), inPlaceOf: query(account),
            with: replaces ? ItemUpdate(data: SharedSecret(copying: data.utf8)) : nil)
    }

    @Test(
        "A new item gets all of its attributes, an existing one only those of the update", arguments: Backend.allCases)
    func replacing(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let first = try Self.store("a", "one", in: keychain)
        #expect(!first.isReplacement && first.record.secrets == nil && first.record[.label] == .string("new a"))
        keychain.clock.advance(by: 5)
        try keychain.update("a", ItemUpdate(attributes: [.label: .string("mine")]))
        let second = try Self.store("a", "two", in: keychain)
        #expect(second.isReplacement && second.record.identifier == first.record.identifier)
        #expect(second.record[.label] == .string("mine") && second.record.created == first.record.created)
        #expect(try keychain.find("a", limit: .all) == ["two"])
    }

    @Test("Without an update, an item that exists is an error, and stays as it is", arguments: Backend.allCases)
    func refusing(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try Self.store("a", "one", replaces: false, in: keychain)
        #expect(throws: KeychainError.duplicateItem) { try Self.store("a", "two", replaces: false, in: keychain) }
        #expect(try keychain.find("a", limit: .all) == ["one"])
    }

    @Test("Of a local and a synchronized item, the local one is replaced", arguments: Backend.allCases)
    func scopes(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let calls = keychain.service.by(TestKeychain.caller)
        let update = ItemUpdate(data: SharedSecret(copying: "changed".utf8))
        let synchronized = try calls.add(Self.item("a", "s", isSynchronizable: true))
        let only = try calls.store(Self.item("a", "new"), inPlaceOf: Self.query("a", .any), with: update)
        #expect(only.record.identifier == synchronized.identifier)
        let local = try calls.add(Self.item("a", "l"))
        let both = try calls.store(Self.item("a", "new"), inPlaceOf: Self.query("a", .any), with: update)
        #expect(both.isReplacement && both.record.identifier == local.identifier)
    }

    @Test(
        "A new class keeps the access control, a new access control keeps the class", arguments: Backend.allCases)
    func accessControl(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        let calls = keychain.service.by(TestKeychain.caller)
        _ = try calls.store(
            Self.item("a", "one"), inPlaceOf: Self.query("a"), with: ItemUpdate(protection: .afterFirstUnlock))
        let constrained = try calls.store(
            Self.item("a", "one"), inPlaceOf: Self.query("a"), with: ItemUpdate(accessControlFlags: .userPresence))
        #expect(constrained.record.accessControlFlags == .userPresence)
        #expect(constrained.record.protection == .whenUnlocked)
        let needed = #expect(throws: KeychainError.self) {
            try calls.store(
                Self.item("a", "one"), inPlaceOf: Self.query("a"), with: ItemUpdate(protection: .afterFirstUnlock))
        }
        // The person is needed to replace it.
        #expect(needed?.authentication != nil)
    }

    @Test("Items are never lost or doubled by stores at the same time", arguments: Backend.allCases)
    func concurrent(_ backend: Backend) async throws {
        let keychain = try TestKeychain(backend)
        let replaced = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<24 {
                group.addTask { try Self.store("a", "\(number)", in: keychain).isReplacement }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(replaced == 23)
        #expect(try keychain.find("a", limit: .all).count == 1)
    }

    @Test("Items other than passwords, moves to another group and lookup attributes are refused")
    func invalid() throws {
        let keychain = try TestKeychain(.ephemeral)
        let calls = keychain.service.by(TestKeychain.caller)
        let attempts: [(ItemAddition, ItemQuery, ItemUpdate?)] = [
            (ItemAddition(.certificate), ItemQuery(.certificate), nil),
            (Self.item("a", "x"), ItemQuery(.internetPassword), nil),
            (Self.item("a", "x"), Self.query("a"), ItemUpdate(accessGroup: "G2")),
        ]
        for (item, query, update) in attempts {
            let refused = #expect(throws: KeychainError.self) { try calls.store(item, inPlaceOf: query, with: update) }
            #expect(refused?.status == .param)
        }
        let foreign = #expect(throws: KeychainError.self) {
            try calls.store(Self.item("a", "x", group: "G9"), inPlaceOf: Self.query("a"), with: nil)
        }
        #expect(foreign?.status == .missingEntitlement)
    }
}
