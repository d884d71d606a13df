// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyService
import SecretMemory
@testable import SecretService
import Testing

/// The user's keychain as a store.
@Suite("Keychain behind the Secret Service")
struct KeychainSecretStoreTests {
    private static func store(_ keychain: TestKeychain) -> KeychainSecretStore {
        // The store keeps the keychain, which is closed with its last reference.
        KeychainSecretStore { () throws(KeychainError) in
            KeychainSession(keychain.service, as: CallerIdentity(executable: "/usr/bin/latchkey-secret-service"))
        }
    }

    private static func attributes(_ pairs: [(String, String)]) throws -> SecretAttributes {
        try SecretAttributes(validating: pairs.map { SecretAttributes.Pair($0.0, $0.1) })
    }

    private static func item(_ pairs: [(String, String)], _ secret: String) throws -> NewSecretItem {
        NewSecretItem(
            label: "label", attributes: try attributes(pairs),
            secret: SecretValue(SharedSecret(copying: secret.utf8), contentType: "text/x"))
    }

    @Test("An item keeps its map, the type of its content and its secret", arguments: Backend.allCases)
    func items(_ backend: Backend) throws {
        let store = Self.store(try TestKeychain(backend))
        let pairs = [("service", "example.com"), ("username", "alice"), ("other", "é")]
        let added = try store.add(try Self.item(pairs, "s3cret"), replacing: false, to: .login)
        #expect(try store.item(added.reference).attributes == Self.attributes(pairs))
        let secret = try store.secret(of: added.reference)
        #expect(secret.contentType == "text/x" && secret.bytes == SharedSecret(copying: "s3cret".utf8))
        #expect(try store.search(Self.attributes([("other", "é")]), in: nil).map(\.reference) == [added.reference])
        // Two that differ in another attribute are two.
        let other = try store.add(try Self.item(pairs + [("more", "1")], "x"), replacing: true, to: .login)
        #expect(!other.isReplacement)
        #expect(try store.add(try Self.item(pairs, "new"), replacing: true, to: .login).isReplacement)
        #expect(try store.items(in: .login).count == 2)
        try store.deleteItem(added.reference)
        #expect(throws: SecretStoreError.notFound) { try store.item(added.reference) }
    }

    @Test("An item of SecItem is found by the names that clients use")
    func foreign() throws {
        let keychain = try TestKeychain(.ephemeral)
        let caller = CallerIdentity(executable: "/usr/bin/security")
        _ = try keychain.service.add(
            ItemAddition(
                .genericPassword, attributes: [.service: .string("example.com"), .account: .string("bob")],
                secrets: ItemSecrets(data: SharedSecret(copying: "x".utf8))), from: caller)
        let store = Self.store(keychain)
        let names: [[(String, String)]] = [
            [("service", "example.com"), ("username", "bob")], [("user", "bob")], [("account", "bob")],
        ]
        for pairs in names {
            #expect(try store.search(Self.attributes(pairs), in: .login).count == 1)
        }
    }

    @Test("Collections are groups of their own, with labels that can change")
    func collections() throws {
        let store = Self.store(try TestKeychain(.ephemeral))
        let created = try store.createCollection(label: "Work")
        _ = try store.add(try Self.item([("a", "1")], "x"), replacing: false, to: created.name)
        #expect(try store.items(in: .login).isEmpty && store.items(in: created.name).count == 1)
        try store.setLabel("Office", of: created.name)
        #expect(try store.collections().map(\.label) == ["Login", "Office"])
        try store.setDefaultCollection(created.name)
        #expect(try store.defaultCollection() == created.name)
        try store.deleteCollection(created.name)
        #expect(try store.defaultCollection() == .login)
        #expect(throws: SecretStoreError.notFound) { try store.collection(created.name) }
    }

    @Test("With a passcode, the collection is locked and unlocked")
    func lock() throws {
        let store = Self.store(try TestKeychain(.ephemeral))
        let added = try store.add(try Self.item([("a", "1")], "x"), replacing: false, to: .login)
        let passcode = SharedSecret(copying: "correct horse battery".utf8)
        try store.changePasscode(of: .login, from: nil, to: passcode)
        try store.lock(.login)
        #expect(try store.collection(.login).isLocked && store.item(added.reference).isLocked)
        #expect(throws: SecretStoreError.locked) { try store.secret(of: added.reference) }
        try store.unlock(.login, with: passcode)
        #expect(try store.secret(of: added.reference).bytes.count == 1)
    }

    @Test("The secret of an application is made once, in the group of its sandbox")
    func application() throws {
        let store = Self.store(try TestKeychain(.ephemeral))
        let application = try #require(ApplicationID("org.example.App"))
        let secret = try store.secret(of: application)
        #expect(try secret.count == 64 && store.secret(of: application) == secret)
        #expect(try store.items(in: .login).isEmpty)
    }
}
