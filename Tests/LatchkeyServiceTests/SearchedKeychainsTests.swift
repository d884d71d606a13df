// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Several keychains that are used as one.
@Suite("Keychains of a search list")
struct SearchedKeychainsTests {
    private static let caller = CallerIdentity(executable: "/usr/bin/app", declaredGroups: ["G1"])
    private static let passcode = SharedSecret(copying: "build password".utf8)
    private let login: EmbeddedService
    private let build: EmbeddedService
    private let searched: SearchedKeychains

    /// `build` is searched before `login`, and gets new items.
    init() throws {
        (login, build) = (try EmbeddedService(inMemory: .system), try EmbeddedService(inMemory: .system))
        let name = try #require(KeychainName("build"))
        let gone = try #require(KeychainName("gone"))
        searched = SearchedKeychains(
            [.login: .success(login), name: .success(build), gone: .failure(UserKeychains.missing(gone))],
            search: [gone, name, .login], defaultKeychain: name)
    }

    private static func item(_ account: String, _ secret: String = "x") -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.service: .string("s"), .account: .string(account)],
            secrets: ItemSecrets(data: SharedSecret(copying: secret.utf8)))
    }

    private static func query(_ account: String? = nil, limit: MatchLimit? = nil) -> ItemQuery {
        let attributes = account.map { [ItemAttribute.account: AttributeValue.string($0)] } ?? [:]
        return ItemQuery(.genericPassword, attributes: attributes, limit: limit)
    }

    private func secrets(_ query: ItemQuery) throws -> [String] {
        try searched.by(Self.caller).copyMatching(query, returning: .data).records.map { record in
            record.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }

    @Test("The first keychain of the list that has an item answers; a keychain that is gone is passed over")
    func order() throws {
        _ = try login.items.add(Self.item("both", "of login"), from: Self.caller)
        _ = try build.items.add(Self.item("both", "of build"), from: Self.caller)
        _ = try login.items.add(Self.item("one", "only in login"), from: Self.caller)
        #expect(try secrets(Self.query("both")) == ["of build"])
        #expect(try secrets(Self.query("one")) == ["only in login"])
        #expect(try secrets(Self.query(limit: .all)) == ["of build", "of login", "only in login"])
        #expect(try secrets(Self.query(limit: .atMost(2))) == ["of build", "of login"])
        #expect(try secrets(Self.query("missing")) == [])
    }

    @Test("New items go to the default keychain, and only its items can be duplicates")
    func additions() throws {
        _ = try login.items.add(Self.item("a"), from: Self.caller)
        _ = try searched.by(Self.caller).add(Self.item("a"))
        #expect(try build.status().counts.map(\.count) == [1])
        #expect(throws: KeychainError.duplicateItem) { () throws in
            try searched.by(Self.caller).add(Self.item("a"))
        }
        let name = try #require(KeychainName("build"))
        var walk = SearchWalk(
            [name: .success(build), .login: .success(login)], search: [.login], defaultKeychain: name)
        _ = try walk.perform(AddItem(Self.item("b")), Exchange()) {
            (keychain, addition, exchange) throws(KeychainError) in
            try keychain.perform(addition, from: Self.caller, exchange)
        }
        #expect(walk.used == [name])
    }

    @Test("An item is stored in the place of one in any keychain of the list; a new one goes to the default keychain")
    func storing() throws {
        let update = ItemUpdate(data: SharedSecret(copying: "new".utf8))
        _ = try login.items.add(Self.item("a", "old"), from: Self.caller)
        let calls = searched.by(Self.caller)
        #expect(try calls.store(Self.item("a"), inPlaceOf: Self.query("a"), with: update).isReplacement)
        #expect(try secrets(Self.query("a", limit: .all)) == ["new"])
        #expect(throws: KeychainError.duplicateItem) { () throws in
            try calls.store(Self.item("a"), inPlaceOf: Self.query("a"), with: nil)
        }
        #expect(try !calls.store(Self.item("b"), inPlaceOf: Self.query("b"), with: update).isReplacement)
        #expect(try build.status().counts.map(\.count) == [1])
    }

    @Test("No keychain answers in the place of one that has passed on a part and begins anew")
    func interrupted() throws {
        let name = try #require(KeychainName("build"))
        var walk = SearchWalk([name: .success(1), .login: .success(2)], search: [name, .login], defaultKeychain: name)
        let passed = FoundItems(ItemMatches(records: [], damaged: 1))
        let exchange = Exchange(
            take: { (_) throws(KeychainError) in }, restart: { () throws(KeychainError) in throw .changedDuringSearch })
        var asked: [Int] = []
        #expect(throws: KeychainError.changedDuringSearch) { () throws in
            _ = try walk.perform(CopyItems(Self.query(limit: .all), returning: .data), exchange) {
                (keychain, _, exchange) throws(KeychainError) in
                asked.append(keychain)
                try exchange.take?(passed)
                try exchange.restart?()
                return passed
            }
        }
        #expect(asked == [1])
    }

    @Test("Changes and deletions reach every keychain of the list")
    func changes() throws {
        for service in [login, build] { _ = try service.items.add(Self.item("a"), from: Self.caller) }
        let update = ItemUpdate(data: SharedSecret(copying: "new".utf8))
        #expect(try searched.by(Self.caller).update(Self.query("a"), with: update) == 2)
        #expect(try secrets(Self.query("a", limit: .all)) == ["new", "new"])
        #expect(try searched.by(Self.caller).delete(Self.query("a")) == 2)
        #expect(try searched.by(Self.caller).delete(Self.query("a")) == 0)
    }

    @Test("A locked keychain lets another one answer, and is the reason if none does")
    func locked() throws {
        _ = try build.items.add(Self.item("a", "of build"), from: Self.caller)
        try build.lock.setPasscode(Self.passcode) { _, _ in }
        try build.lock.lock(immediately: true)
        let error = #expect(throws: KeychainError.self) { () throws in try secrets(Self.query("a")) }
        #expect(error?.status == .interactionNotAllowed)
        _ = try login.items.add(Self.item("a", "of login"), from: Self.caller)
        #expect(try secrets(Self.query("a")) == ["of login"])
        // Operations on a whole keychain apply to the default keychain.
        #expect(try searched.administrator.lockStatus().state == .locked)
        try searched.administrator.unlock(Self.passcode) { _, _ in }
        #expect(try secrets(Self.query("a")) == ["of build"])
    }

    @Test("A context is one in every keychain")
    func contexts() throws {
        let context = try searched.by(Self.caller).createContext()
        let password = SharedSecret(copying: "of the application".utf8)
        try searched.by(Self.caller).setApplicationPassword(password, in: context)
        for service in [login, build] {
            #expect(try service.contexts.hasApplicationPassword(in: context, from: Self.caller))
        }
        searched.by(Self.caller).endContext(context)
        for service in [login, build] {
            #expect(throws: KeychainError.self) { () throws in
                try service.contexts.hasApplicationPassword(in: context, from: Self.caller)
            }
        }
    }

    @Test("Keys of files are in the login keychain, because it outlives the others")
    func files() throws {
        let key = try searched.by(Self.caller).createFileKey(.none, group: nil, withholdsKey: false)
        _ = try login.fileKeys.open(key.record, from: Self.caller)
        #expect(throws: KeychainError.self) { () throws in try build.fileKeys.open(key.record, from: Self.caller) }
        _ = try searched.by(Self.caller).openFileKey(key.record)
    }
}
