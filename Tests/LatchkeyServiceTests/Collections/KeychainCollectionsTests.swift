// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// The list of collections in a keychain.
@Suite("Collections of a keychain")
struct KeychainCollectionsTests {
    private static let caller = CallerIdentity(executable: "/usr/libexec/latchkey/latchkey-secret-service")

    private static func collections(_ keychain: TestKeychain) -> KeychainCollections {
        KeychainCollections(KeychainSession(keychain.service, as: caller))
    }

    private static func add(_ account: String, to name: CollectionName, _ keychain: TestKeychain) throws {
        _ = try keychain.service.by(caller).add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string(account)],
                secrets: ItemSecrets(data: SharedSecret(copying: "v".utf8)), accessGroup: name.accessGroup.name))
    }

    @Test(
        "A collection is created, renamed and deleted with its items, and another program sees it",
        arguments: Backend.everywhere)
    func life(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let collections = Self.collections(keychain)
        #expect(try collections.all().map(\.name) == [.login])
        let work = try collections.create(label: "Work")
        #expect(work.name == CollectionName("Work") && work.label == "Work" && work.created == keychain.clock.now)
        #expect(try collections.create(label: "Work").name == CollectionName("Work 2"))
        // The names that others have built in are never those of a new collection.
        #expect(try collections.create(label: "login").name == CollectionName("login 2"))
        #expect(try collections.create(label: "session").name == CollectionName("session 2"))
        keychain.clock.advance(by: 60)
        try collections.rename(work.name, to: "Office")
        let command = KeychainCollections(
            KeychainSession(
                keychain.service, as: CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)))
        #expect(try command.all().map(\.label) == ["Login", "Office", "Work", "login", "session"])
        #expect(try command.collection(work.name).created == work.created)
        try Self.add("1", to: work.name, keychain)
        try Self.add("2", to: .login, keychain)
        try collections.setDefault(work.name)
        #expect(try command.defaultName() == work.name && command.passwordCount(in: work.name) == 1)
        #expect(try command.delete(work.name) == 1)
        #expect(try collections.defaultName() == .login && collections.passwordCount(in: .login) == 1)
        #expect(throws: KeychainError.self) { try collections.collection(work.name) }
        #expect(throws: KeychainError.self) { try collections.rename(work.name, to: "x") }
    }

    @Test("The collection login gets another label, and cannot be deleted")
    func login() throws {
        let keychain = try TestKeychain(.ephemeral)
        defer { withExtendedLifetime(keychain) {} }
        let collections = Self.collections(keychain)
        try collections.rename(.login, to: "Mine")
        #expect(try collections.all().map(\.label) == ["Mine"] && collections.collection(.login).label == "Mine")
        let error = #expect(throws: KeychainError.self) { try collections.delete(.login) }
        #expect(error?.status == .unimplemented)
    }

    @Test("A label has a maximum length")
    func labels() throws {
        let keychain = try TestKeychain(.ephemeral)
        defer { withExtendedLifetime(keychain) {} }
        let collections = Self.collections(keychain)
        let longest = String(repeating: "ä", count: KeychainCollection.maxLabelLength / 2)
        let name = try collections.create(label: longest).name
        try collections.rename(name, to: longest)
        let creation = #expect(throws: KeychainError.self) { _ = try collections.create(label: longest + "x") }
        let renaming = #expect(throws: KeychainError.self) { try collections.rename(name, to: longest + "x") }
        #expect(creation?.status == .dataTooLarge && renaming?.status == .dataTooLarge)
        #expect(try collections.all().map(\.label) == ["Login", longest])
    }

    @Test("Locked, the collections are listed, and none is deleted", arguments: Backend.allCases)
    func locked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let collections = Self.collections(keychain)
        let work = try collections.create(label: "Work").name
        try Self.add("1", to: work, keychain)
        try keychain.setPasscode()
        try keychain.service.administrator.lock(immediately: true)
        #expect(try collections.all().map(\.label) == ["Login", "Work"] && collections.passwordCount(in: work) == 1)
        let error = #expect(throws: KeychainError.self) { try collections.delete(work) }
        #expect(error?.status == .interactionNotAllowed)
        try keychain.unlock()
        #expect(try collections.delete(work) == 1)
    }

    @Test("The list is kept with the keychain's files")
    func reopened() throws {
        let keychain = try TestKeychain(.onDisk)
        let work = try Self.collections(keychain).create(label: "Work")
        let again = try keychain.reopened()
        #expect(try Self.collections(again).collection(work.name) == work)
    }

    @Test("Where no class is always open, the records open with the first unlock, and the collection is known before")
    func withoutAlwaysOpen() throws {
        let directory = try TemporaryDirectory()
        func service() throws -> EmbeddedService {
            try EmbeddedService(home: KeychainHome(root: directory.path), allowsAlwaysOpen: false)
        }
        let before = try service()
        let work = try KeychainCollections(KeychainSession(before, as: Self.caller)).create(label: "Work").name
        try before.lock.setPasscode(Sample.secret) { _, _ in }
        before.close()
        let after = try service()
        defer { after.close() }
        let collections = KeychainCollections(KeychainSession(after, as: Self.caller))
        #expect(try collections.all().map(\.name) == [.login])
        #expect(try collections.collection(work).label == "Work")
        let home = try #require(CollectionName("Home"))
        #expect(throws: KeychainError.self) { try collections.collection(home) }
        try after.lock.unlock(Sample.secret) { _, _ in }
        #expect(try collections.all().map(\.name) == [.login, work])
    }

    @Test("An attested group does not have records of collections")
    func attested() throws {
        let keychain = try TestKeychain(.ephemeral)
        let attested = CallerIdentity(executable: "/usr/bin/service", attestedGroups: ["org.freedesktop.secrets"])
        _ = try KeychainCollections(KeychainSession(keychain.service, as: attested)).create(label: "Work")
        #expect(try Self.collections(keychain).all().map(\.name) == [.login])
    }
}
