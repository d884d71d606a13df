// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import KeychainModel
import Latchkey
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

@Suite("The typed keychain")
struct KeychainTests {
    private let alice = GenericPassword(service: "example.com", account: "alice")

    @Test("A secret is stored and returned as text, as Data and in secret memory")
    func forms() throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(alice, to: "s3cret")
        #expect(try keychain.string(for: alice) == "s3cret")
        #expect(try keychain.data(for: alice) == Data("s3cret".utf8))
        let secret = try keychain.secret(for: alice)
        let text = secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(text == "s3cret")
        try keychain.set(alice, to: Data([0, 255]))
        #expect(try keychain.data(for: alice) == Data([0, 255]))
        let error = try #require(throws: KeychainError.self) { try keychain.string(for: alice) }
        #expect(error.status == .decode)
        try keychain.set(alice, to: SharedSecret(copying: Array("again".utf8)))
        #expect(try keychain.string(for: alice) == "again")
    }

    @Test("Setting an existing item keeps the attributes that the item does not name")
    func setKeeps() throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(
            GenericPassword(
                service: "example.com", account: "alice", label: "L", comment: "C", protection: .afterFirstUnlock),
            to: "one")
        try keychain.set(alice, to: "two")
        let found = try #require(try keychain.items(GenericPassword.self).first)
        #expect(found.label == "L" && found.comment == "C" && found.protection == .afterFirstUnlock)
        #expect(try keychain.string(for: alice) == "two")
    }

    @Test("Adding an item twice and reading a missing item have their own errors")
    func errors() throws {
        let keychain = try Keychain.ephemeral()
        try keychain.add(alice, secret: "one")
        #expect(
            try #require(throws: KeychainError.self) { try keychain.add(alice, secret: "two") }.status == .duplicateItem
        )
        let bob = GenericPassword(service: "example.com", account: "bob")
        #expect(try #require(throws: KeychainError.self) { try keychain.string(for: bob) }.status == .itemNotFound)
        #expect(try #require(throws: KeychainError.self) { try keychain.delete(bob) }.status == .itemNotFound)
        #expect(try !keychain.contains(bob))
        #expect(try keychain.contains(alice))
        try keychain.delete(alice)
        #expect(try !keychain.contains(alice))
    }

    @Test("Every attribute of the primary key distinguishes internet passwords, and all attributes are returned")
    func internetPasswords() throws {
        let keychain = try Keychain.ephemeral()
        let item = InternetPassword(
            server: "example.com", account: "alice", scheme: .https, port: 443, path: "/x", securityDomain: "realm",
            authenticationType: "dflt",
            label: "L")
        try keychain.set(item, to: "one")
        var other = item
        other.port = 8443
        try keychain.set(other, to: "two")
        #expect(try keychain.string(for: item) == "one")
        #expect(try keychain.string(for: other) == "two")
        let found = try keychain.items(InternetPassword.self, matching: .init(server: "example.com", scheme: .https))
        #expect(found.map(\.port) == [443, 8443])
        #expect(
            found.first?.path == "/x" && found.first?.securityDomain == "realm"
                && found.first?.authenticationType == "dflt")
        #expect(try keychain.items(InternetPassword.self, matching: .init(server: "other")).isEmpty)
    }

    @Test("An item that was found keeps its identity, even if its account is not text")
    func binaryAccounts() throws {
        try withKeychain(.ephemeral) { keychain in
            let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1", "G2"])
            for account in [AttributeValue.data([0xFF]), .string("")] {
                let secrets = ItemSecrets(data: SharedSecret(copying: account.canonicalBytes))
                let addition = ItemAddition(
                    .genericPassword, attributes: [.service: .string("S"), .account: account], secrets: secrets)
                _ = try keychain.service.by(caller).add(addition)
            }
            let found = try Keychain.default.items(GenericPassword.self)
            #expect(found.count == 2)
            #expect(try Keychain.default.data(for: found[0]) == Data([0xFF]))
            try Keychain.default.delete(found[0])
            #expect(try Keychain.default.data(for: found[1]) == Data())
        }
    }

    @Test("Setting an item does not change equal items in other groups")
    func namesakes() throws {
        try withKeychain(.ephemeral) { _ in
            for group in ["G1", "G2"] { try Keychain.default.inAccessGroup(group).set(alice, to: group) }
            try Keychain.default.set(alice, to: "new")
            #expect(try Keychain.default.inAccessGroup("G1").string(for: alice) == "new")
            #expect(try Keychain.default.inAccessGroup("G2").string(for: alice) == "G2")
        }
    }

    @Test("An ephemeral keychain is not shared")
    func apart() throws {
        let (one, other) = (try Keychain.ephemeral(), try Keychain.ephemeral())
        try one.set(alice, to: "one")
        #expect(try !other.contains(alice))
    }

    @Test("Access groups have separate items")
    func accessGroups() throws {
        try withKeychain(.ephemeral) { _ in
            let keychain = Keychain.default
            try keychain.inAccessGroup("G1").set(alice, to: "one")
            try keychain.inAccessGroup("G2").set(alice, to: "two")
            #expect(try keychain.inAccessGroup("G1").string(for: alice) == "one")
            #expect(try keychain.inAccessGroup("G2").string(for: alice) == "two")
            let error = try #require(throws: KeychainError.self) {
                try keychain.inAccessGroup("X").set(alice, to: "three")
            }
            #expect(error.status == .missingEntitlement)
        }
    }

    @Test(
        "A damaged item is reported as damaged, never as not found, and storing it again replaces it",
        arguments: ["secret", "metadata"])
    func damaged(column: String) throws {
        try withKeychain(.onDisk) { keychain in
            try Keychain.default.set(alice, to: "one")
            try #require(keychain.directory).runSQL("UPDATE item SET \(column) = zeroblob(200)")
            let error = try #require(throws: KeychainError.self) { try Keychain.default.string(for: alice) }
            #expect(error.status == .decode)
            #expect(error.hint?.contains("doctor") == true)
            #expect(try !Keychain.default.findings().isEmpty)
            try Keychain.default.set(alice, to: "two")
            #expect(try Keychain.default.string(for: alice) == "two")
        }
    }

    @Test("While locked, an item is reported as locked, not as missing; lock states are reported as they change", .long)
    func lock() async throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(alice, to: "s3cret")
        #expect(try keychain.lockState == .unlocked)
        try keychain.setPasscode("correct horse battery")
        var states = try keychain.lockStates().makeAsyncIterator()
        #expect(await states.next() == .unlocked)
        try keychain.lock(immediately: true)
        #expect(await states.next() == .locked)
        let error = try #require(throws: KeychainError.self) { try keychain.string(for: alice) }
        #expect(error.status == .interactionNotAllowed)
        let wrong = try #require(throws: KeychainError.self) { try keychain.unlock(passcode: "wrong one") }
        #expect(wrong.status == .authFailed)
        try keychain.unlock(passcode: "correct horse battery")
        #expect(await states.next() == .unlocked)
        #expect(try keychain.string(for: alice) == "s3cret")
        try keychain.changePasscode(from: "correct horse battery", to: "another passcode", rotatingKeys: true)
        #expect(try keychain.removePasscode("another passcode") == 0)
        #expect(try !keychain.lockStatus.hasPasscode)
    }
}
