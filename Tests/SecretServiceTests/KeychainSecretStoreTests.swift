// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
@testable import SecretService
import Synchronization
import Testing

/// The user's keychain as a store.
@Suite("Keychain behind the Secret Service")
struct KeychainSecretStoreTests {
    private static func item(_ pairs: [String: String], _ secret: String) throws -> NewSecretItem {
        NewSecretItem(
            label: "label", attributes: try SecretAttributes(testing: pairs),
            secret: SecretValue(SharedSecret(copying: secret.utf8), contentType: "text/x"))
    }

    @Test("SECS-1: an item keeps its map, the type of its content and its secret", arguments: Backend.everywhere)
    func items(_ backend: Backend) throws {
        let store = KeychainSecretStore(testing: try TestKeychain(backend))
        let pairs = ["service": "example.com", "username": "alice", "other": "é"]
        let added = try store.add(try Self.item(pairs, "s3cret"), replacing: false, to: .login)
        #expect(try store.item(added.reference).attributes == SecretAttributes(testing: pairs))
        #expect(try store.item(added.reference).label == "label" && !added.isReplacement)
        let secret = try store.secret(of: added.reference)
        #expect(secret.contentType == "text/x" && secret.bytes == SharedSecret(copying: "s3cret".utf8))
        let found = try store.search(SecretAttributes(testing: ["other": "é"]), in: nil)
        #expect(found.map(\.reference) == [added.reference])
        #expect(try store.search(SecretAttributes(testing: ["other": "e"]), in: nil).isEmpty)
        try store.deleteItem(added.reference)
        #expect(throws: SecretStoreError.notFound) { try store.item(added.reference) }
    }

    @Test("SECS-2: only an item with exactly the same map is replaced", arguments: Backend.allCases)
    func replacing(_ backend: Backend) throws {
        let store = KeychainSecretStore(testing: try TestKeychain(backend))
        let pairs = ["service": "example.com", "username": "alice"]
        let first = try store.add(try Self.item(pairs, "1"), replacing: true, to: .login)
        let more = try store.add(
            try Self.item(["service": "example.com", "username": "alice", "more": "1"], "2"), replacing: true,
            to: .login)
        let less = try store.add(try Self.item(["username": "alice"], "3"), replacing: true, to: .login)
        #expect(!first.isReplacement && !more.isReplacement && !less.isReplacement)
        let again = try store.add(try Self.item(pairs, "4"), replacing: true, to: .login)
        #expect(again.isReplacement && again.reference == first.reference)
        #expect(try !store.add(try Self.item(pairs, "5"), replacing: false, to: .login).isReplacement)
        #expect(try store.items(in: .login).count == 4)
        #expect(try store.secret(of: more.reference).text == "2" && store.secret(of: first.reference).text == "4")
    }

    @Test("Label, attributes and secret are changed, each alone", arguments: Backend.allCases)
    func updates(_ backend: Backend) throws {
        let store = KeychainSecretStore(testing: try TestKeychain(backend))
        let item = try store.add(try Self.item(["username": "alice"], "1"), replacing: false, to: .login).reference
        try store.update(item, with: SecretItemUpdate(label: "new"))
        #expect(try store.item(item).label == "new" && store.secret(of: item).text == "1")
        let map = try SecretAttributes(testing: ["username": "bob", "n": ""])
        try store.update(item, with: SecretItemUpdate(attributes: map))
        #expect(try store.item(item).attributes == map && store.item(item).label == "new")
        let secret = SecretValue(SharedSecret(copying: "2".utf8), contentType: "")
        try store.update(item, with: SecretItemUpdate(secret: secret))
        #expect(try store.secret(of: item).text == "2" && store.secret(of: item).contentType == "text/plain")
        #expect(try store.item(item).attributes == map)
        #expect(try store.search(SecretAttributes(testing: ["username": "alice"]), in: nil).isEmpty)
    }

    @Test("Entries that a map cannot have are refused by name")
    func refused() throws {
        let store = KeychainSecretStore(testing: try TestKeychain(.ephemeral))
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("name \($0)", "") })
        let tooMany = #expect(throws: SecretStoreError.self) {
            try store.add(try Self.item(many, "x"), replacing: false, to: .login)
        }
        guard case .limitExceeded? = tooMany else {
            Issue.record("\(String(describing: tooMany))")
            return
        }
        let unnamed = #expect(throws: SecretStoreError.self) {
            try store.add(try Self.item(["": "x"], "x"), replacing: false, to: .login)
        }
        guard case .invalid? = unnamed else {
            Issue.record("\(String(describing: unnamed))")
            return
        }
    }

    // MARK: Creators

    @Test(
        "SECS-12: the programs that have stored an item are kept with it, and are no part of its map",
        arguments: Backend.everywhere)
    func creators(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let store = KeychainSecretStore(testing: keychain)
        let (one, two) = (try #require(ProgramPath("/usr/bin/one")), try #require(ProgramPath("/usr/bin/two")))
        let pairs = ["service": "example.com", "username": "alice"]
        func add(_ creator: ProgramPath?) throws -> ItemReference {
            var item = try Self.item(pairs, "x")
            item.creator = creator
            return try store.add(item, replacing: true, to: .login).reference
        }
        let item = try add(one)
        #expect(try store.item(item).creators == [one])
        // Another program stores in its place; one of unknown path adds nothing.
        #expect(try add(two) == item && add(nil) == item && add(one) == item)
        #expect(try store.item(item).creators == [one, two])
        #expect(try store.item(item).attributes == SecretAttributes(testing: pairs))
        try store.update(item, with: SecretItemUpdate(label: "new"))
        #expect(try store.item(item).creators == [one, two])
    }

    @Test("SECS-12: an access list of security stays when a client stores in its place, and names no creator")
    func accessList() throws {
        let keychain = try TestKeychain(.ephemeral)
        let store = KeychainSecretStore(testing: keychain)
        let list = try AccessList(name: "a", programs: .listed(["/usr/bin/one"]))
        let record = try keychain.service.by(CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)).add(
            ItemAddition(
                .genericPassword,
                attributes: [
                    .service: .string("example.com"), .account: .string("alice"), .accessList: list.attributeValue,
                ]))
        let reference = ItemReference(.login, try #require(SecretItemID(record.persistentReference.bytes)))
        #expect(try store.item(reference).creators.isEmpty)
        var item = try Self.item(["service": "example.com", "username": "alice"], "x")
        item.creator = ProgramPath("/usr/bin/two")
        #expect(try store.add(item, replacing: true, to: .login) == AddedItem(reference, isReplacement: true))
        #expect(try store.item(reference).creators.isEmpty)
        let found = try keychain.service.by(CallerIdentity(executable: "/usr/bin/example")).copyMatching(
            ItemQuery(.genericPassword, attributes: [.service: .string("example.com")]), returning: .attributes)
        #expect(try found.records.first?.accessList() == list)
    }

    // MARK: Collections

    @Test("SECS-3: collections are access groups of their own, searched by one call", arguments: Backend.everywhere)
    func collections(_ backend: Backend) throws {
        let store = KeychainSecretStore(testing: try TestKeychain(backend))
        let work = try store.createCollection(label: "Work")
        #expect(work.name == CollectionName("Work") && work.created > 1_700_000_000)
        let inLogin = try store.add(try Self.item(["a": "1"], "x"), replacing: true, to: .login).reference
        let inWork = try store.add(try Self.item(["a": "1"], "y"), replacing: true, to: work.name).reference
        let map = try SecretAttributes(testing: ["a": "1"])
        #expect(try store.search(map, in: nil).map(\.reference) == [inLogin, inWork])
        #expect(try store.search(map, in: work.name).map(\.reference) == [inWork])
        #expect(try store.items(in: .login) == [inLogin.item] && store.items(in: work.name) == [inWork.item])
        // An item is only in its own collection.
        #expect(throws: SecretStoreError.notFound) { try store.item(ItemReference(.login, inWork.item)) }
        try store.setLabel("Office", of: work.name)
        #expect(try store.collections().map(\.label) == ["Login", "Office"])
        try store.setDefaultCollection(work.name)
        #expect(try store.defaultCollection() == work.name)
        try store.deleteCollection(work.name)
        #expect(try store.defaultCollection() == .login && store.search(map, in: nil).map(\.reference) == [inLogin])
        #expect(throws: SecretStoreError.notFound) { try store.collection(work.name) }
        #expect(throws: SecretStoreError.notFound) { try store.items(in: work.name) }
        #expect(throws: SecretStoreError.notFound) {
            try store.add(try Self.item(["a": "1"], "x"), replacing: false, to: work.name)
        }
        let missing = try #require(CollectionName("Home"))
        #expect(throws: SecretStoreError.notFound) { try store.setDefaultCollection(missing) }
        let error = #expect(throws: SecretStoreError.self) { try store.deleteCollection(.login) }
        guard case .notSupported? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("SECS-4: items of attested groups are never visible, also of one with the name of a collection")
    func attested() throws {
        let keychain = try TestKeychain(.ephemeral)
        let store = KeychainSecretStore(testing: keychain)
        let work = try store.createCollection(label: "Work").name
        let service = CallerIdentity(
            executable: "/usr/bin/service", attestedGroups: [work.accessGroup.name, AccessGroup.shared.name])
        for name in service.attestedGroups ?? [] {
            let record = try keychain.service.by(service).add(
                ItemAddition(
                    .genericPassword, attributes: [.account: .string("alice")],
                    secrets: ItemSecrets(data: SharedSecret(copying: "x".utf8)), accessGroup: name))
            let identifier = try #require(SecretItemID(record.persistentReference.bytes))
            for collection in [CollectionName.login, work] {
                #expect(throws: SecretStoreError.notFound) { try store.item(ItemReference(collection, identifier)) }
            }
        }
        #expect(try store.search(.none, in: nil).isEmpty)
        // Also not for a service that itself is attested.
        let attested = KeychainSecretStore { () throws(KeychainError) in
            KeychainSession(keychain.service, as: service)
        }
        #expect(try attested.search(.none, in: .login).isEmpty)
    }

    // MARK: The lock

    @Test(
        "SECS-5: locked, the store finds items by their attributes, shows nothing of them, and does not change them",
        arguments: Backend.allCases)
    func lock(_ backend: Backend) throws {
        let store = KeychainSecretStore(testing: try TestKeychain(backend))
        let work = try store.createCollection(label: "Work").name
        let item = try store.add(try Self.item(["username": "alice", "n": "1"], "x"), replacing: false, to: work)
            .reference
        let passcode = SharedSecret(copying: "correct horse battery".utf8)
        try store.changePasscode(of: .login, from: nil, to: passcode)
        try store.lock(.login)
        #expect(try store.collections().map(\.isLocked) == [true, true])
        #expect(try store.search(SecretAttributes(testing: ["n": "1"]), in: nil) == [FoundItem(item, isLocked: true)])
        #expect(try store.search(SecretAttributes(testing: ["n": "2"]), in: nil).isEmpty)
        #expect(try store.items(in: work) == [item.item])
        let shown = try store.item(item)
        #expect(shown == SecretItem(locked: item))
        #expect(try store.items(in: work, limit: 2) == [SecretItem(locked: item)])
        #expect(throws: SecretStoreError.locked) { try store.secret(of: item) }
        #expect(throws: SecretStoreError.locked) { try store.update(item, with: SecretItemUpdate(label: "l")) }
        #expect(throws: SecretStoreError.locked) { try store.deleteItem(item) }
        #expect(throws: SecretStoreError.locked) { try store.deleteCollection(work) }
        #expect(throws: SecretStoreError.locked) { try store.createCollection(label: "Home") }
        #expect(throws: SecretStoreError.locked) {
            try store.add(try Self.item(["username": "alice", "n": "1"], "y"), replacing: true, to: work)
        }
        try store.unlock(.login, with: passcode)
        #expect(try store.search(SecretAttributes(testing: ["n": "1"]), in: nil) == [FoundItem(item, isLocked: false)])
        #expect(try store.secret(of: item).text == "x")
    }

    @Test("An item that needs the person is no item of a collection")
    func constrained() throws {
        let keychain = try TestKeychain(.ephemeral)
        let store = KeychainSecretStore(testing: keychain)
        try store.changePasscode(of: .login, from: nil, to: SharedSecret(copying: "correct horse battery".utf8))
        let record = try keychain.service.by(CallerIdentity(executable: "/usr/bin/example")).add(
            ItemAddition(
                .genericPassword, attributes: [.service: .string("s")],
                secrets: ItemSecrets(data: SharedSecret(copying: "x".utf8)), protection: .whenUnlocked,
                accessControlFlags: .userPresence))
        let other = try store.add(try Self.item(["service": "s", "n": "1"], "x"), replacing: false, to: .login)
        let found = try store.search(SecretAttributes(testing: ["service": "s"]), in: nil)
        #expect(found.map(\.reference) == [other.reference])
        let identifier = try #require(SecretItemID(record.persistentReference.bytes))
        #expect(throws: SecretStoreError.notFound) { try store.secret(of: ItemReference(.login, identifier)) }
    }

    // MARK: Changes

    @Test("Changes of other programs are reported", arguments: Backend.allCases)
    func changes(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let store = KeychainSecretStore(testing: keychain)
        _ = try store.collections()
        let count = EventCount()
        let observation = try store.observe { change in if change == .contents { count.increase() } }
        _ = try keychain.service.by(CallerIdentity(executable: "/usr/bin/example")).add(
            ItemAddition(.genericPassword, attributes: [.service: .string("s")]))
        #expect(eventually { count.value > 0 })
        withExtendedLifetime(observation) {}
    }

    @Test("The observers of a keychain that is opened anew are told so, and observe the new one")
    func openedAnew() throws {
        let (first, second) = (try TestKeychain(.ephemeral), try TestKeychain(.ephemeral))
        let generation = Atomic<UInt64>(0)
        let caller = CallerIdentity(executable: "/usr/libexec/latchkey/latchkey-secret-service")
        let store = KeychainSecretStore(generation: { generation.load(ordering: .relaxed) }) {
            () throws(KeychainError) in
            KeychainSession(generation.load(ordering: .relaxed) == 0 ? first.service : second.service, as: caller)
        }
        let count = EventCount()
        let observation = try store.observe { change in if change == .contents { count.increase() } }
        generation.store(1, ordering: .relaxed)
        _ = try store.collections()
        #expect(count.value == 1)
        let item = ItemAddition(.genericPassword, attributes: [.service: .string("s")])
        _ = try second.service.by(caller).add(item)
        #expect(eventually { count.value > 1 })
        let seen = count.value
        _ = try first.service.by(caller).add(item)
        _ = try store.collections()
        #expect(count.value == seen)
        withExtendedLifetime(observation) {}
    }

    // MARK: Programs

    private static let notes = CallerIdentity(executable: "/usr/bin/notes")

    private static func password(_ account: String) -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
            secrets: ItemSecrets(data: SharedSecret(copying: "s3cret".utf8)))
    }

    @Test(
        "The own group of a program is a collection that is read, and that only the program changes",
        arguments: Backend.allCases)
    func program(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let store = KeychainSecretStore(testing: keychain)
        #expect(try store.collections().map(\.name) == [.login])
        let name = try #require(CollectionName("program.notes"))
        #expect(throws: SecretStoreError.notFound) { try store.collection(name) }
        let seen = try store.observe { _ in }
        defer { withExtendedLifetime(seen) {} }
        _ = try keychain.service.by(Self.notes).add(Self.password("a"))
        #expect(eventually { (try? store.collections().map(\.name)) == [.login, name] })
        #expect(try store.collection(name).label == "notes" && store.items(in: .login).isEmpty)
        let reference = ItemReference(name, try #require(store.items(in: name).first))
        #expect(try store.secret(of: reference).text == "s3cret" && store.item(reference).label == "s")
        #expect(try store.search(SecretAttributes(testing: ["account": "a"]), in: nil).map(\.reference) == [reference])
        // Clients of the bus change nothing there.
        let denied: [() throws -> Void] = [
            { _ = try store.add(try Self.item(["a": "b"], "1"), replacing: true, to: name) },
            { try store.update(reference, with: SecretItemUpdate(label: "x")) },
            { try store.deleteItem(reference) }, { try store.setLabel("x", of: name) },
            { try store.deleteCollection(name) }, { try store.setDefaultCollection(name) },
        ]
        for (index, call) in denied.enumerated() {
            let error = #expect(throws: SecretStoreError.self, "\(index)") { try call() }
            guard case .denied? = error else {
                Issue.record("\(index): \(String(describing: error))")
                continue
            }
        }
        #expect(try store.secret(of: reference).text == "s3cret" && store.defaultCollection() == .login)
        // A new collection never has the name of a program's.
        #expect(try store.createCollection(label: "program.notes").name.text == "collection program.notes")
        #expect(try keychain.service.by(Self.notes).delete(ItemQuery(.genericPassword, limit: .all)) == 1)
        #expect(eventually { (try? store.collections().contains { $0.name == name }) == false })
        #expect(throws: SecretStoreError.notFound) { try store.collection(name) }
    }

    @Test("A locked keychain keeps the collections of programs that were known")
    func lockedProgram() throws {
        let keychain = try TestKeychain(.ephemeral)
        let store = KeychainSecretStore(testing: keychain)
        _ = try keychain.service.by(Self.notes).add(Self.password("a"))
        let names = try store.collections().map(\.name.text)
        #expect(names == ["login", "program.notes"])
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "the passcode".utf8)) { _, _ in }
        try keychain.service.administrator.lock(immediately: true)
        #expect(try store.collections().map(\.name.text) == names)
        let name = try #require(CollectionName("program.notes"))
        #expect(try store.collection(name).isLocked && store.items(in: name).count == 1)
        // A service that starts now knows it by its name alone.
        let other = KeychainSecretStore(testing: keychain)
        #expect(try other.collections().map(\.name.text) == ["login"] && other.collection(name).isLocked)
    }

    @Test("The secret of an application is made once, in the group of its sandbox", arguments: Backend.allCases)
    func application(_ backend: Backend) throws {
        let store = KeychainSecretStore(testing: try TestKeychain(backend))
        let application = try #require(ApplicationID("org.example.App"))
        let secret = try store.secret(of: application)
        #expect(try secret.count == 64 && store.secret(of: application) == secret)
        #expect(try store.items(in: .login).isEmpty)
    }
}
