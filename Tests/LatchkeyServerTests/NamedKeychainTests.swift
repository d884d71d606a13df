// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
@testable import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LatchkeyService
import SecretMemory
import Testing

/// The keychains that a user has created, served beside the one that every user has.
@Suite("Keychains by name in the daemon")
struct NamedKeychainTests {
    private static let passcode = SharedSecret(copying: "build password".utf8)

    /// A daemon with a user who has the keychain `build`, with a passcode.
    private static func fixture() throws -> (ServerFixture, KeychainName) {
        let directory = try TemporaryDirectory()
        let build = try #require(KeychainName("build"))
        try UserKeychains(KeychainHome(root: directory.path)).create(build) { (home) throws(KeychainError) in
            let service = try EmbeddedService(home: home)
            defer { service.close() }
            try service.lock.setPasscode(passcode) { _, _ in }
        }
        return (try ServerFixture(directory: directory), build)
    }

    private static func client(_ fixture: ServerFixture, _ name: KeychainName) throws -> (RawClient, Response) {
        let client = RawClient(try fixture.socket())
        let claim = CallerIdentity(executable: "/usr/bin/example")
        return (client, try client.ask(Hello(claim: claim, keychain: name)))
    }

    @Test("A connection is for the keychain that its hello names, and for no other")
    func separate() throws {
        let (fixture, build) = try Self.fixture()
        let (login, _) = try Self.client(fixture, .login)
        let (named, welcome) = try Self.client(fixture, build)
        #expect(welcome.problem == nil)
        #expect(try named.ask(AddItem(Items.addition("a"))).problem?.status == .interactionNotAllowed)
        #expect(try login.ask(AddItem(Items.addition("a"))).problem == nil)
        #expect(try named.ask(UnlockKeychain(Self.passcode)).problem == nil)
        #expect(try named.ask(CopyItems(Items.query("a"), returning: .data)).problem?.status == .itemNotFound)
        #expect(try named.ask(AddItem(Items.addition("b"))).problem == nil)
        #expect(try login.ask(CopyItems(Items.query("b"), returning: .data)).problem?.status == .itemNotFound)
        // A second connection sees the item that the first one has stored.
        let (other, _) = try Self.client(fixture, build)
        #expect(try other.ask(CopyItems(Items.query("b"), returning: .data)).problem == nil)
        // The lock of one is not that of the other.
        #expect(try other.ask(LockKeychain(immediately: true)).problem == nil)
        #expect(
            try named.ask(CopyItems(Items.query("b"), returning: .data)).problem?.status == .interactionNotAllowed)
        #expect(try login.ask(CopyItems(Items.query("a"), returning: .data)).problem == nil)
    }

    @Test("The end of the user's session locks every keychain of the user")
    func sessionEnd() throws {
        let (fixture, build) = try Self.fixture()
        let login = try fixture.client()
        let (named, _) = try Self.client(fixture, build)
        #expect(try login.ask(SetPasscode(Self.passcode)).problem == nil)
        #expect(try login.ask(AddItem(Items.addition("a"))).problem == nil)
        #expect(try named.ask(UnlockKeychain(Self.passcode)).problem == nil)
        #expect(try named.ask(AddItem(Items.addition("a"))).problem == nil)
        fixture.server.handleSessionEvent(.end, of: geteuid())
        for client in [login, named] {
            let answer = try client.ask(CopyItems(Items.query("a"), returning: .data))
            #expect(answer.problem?.status == .interactionNotAllowed)
        }
    }

    @Test("A search of more keychains than a user may search at once needs one share, and obeys its limit")
    func manyKeychains() throws {
        let directory = try TemporaryDirectory()
        let caller = CallerIdentity(executable: "/usr/bin/example")
        let keychains = UserKeychains(KeychainHome(root: directory.path))
        for text in ["one", "two", "three"] {
            try keychains.create(try #require(KeychainName(text))) { (home) throws(KeychainError) in
                let service = try EmbeddedService(home: home)
                defer { service.close() }
                for account in ["a", "b"] {
                    _ = try service.items.add(Items.addition(account), from: caller)
                }
            }
        }
        let service = RoutedService(try TestKeychain.server(on: directory, clock: TestClock()))
        defer { service.close() }
        for (limit, count) in [(MatchLimit.all, 6), (.atMost(5), 5), (.atMost(3), 3)] {
            let found = try service.by(caller).copyMatching(
                ItemQuery(.genericPassword, limit: limit), returning: [.data, .attributes])
            #expect(found.records.count == count, "\(limit)")
        }
    }

    @Test("A keychain that refuses its secrets without the passcode is not passed over for one that has none")
    func refusal() throws {
        let directory = try TemporaryDirectory()
        let program = CallerIdentity(executable: "/usr/bin/app", declaredGroups: ["app"])
        let command = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
        let build = try #require(KeychainName("build"))
        try UserKeychains(KeychainHome(root: directory.path)).create(build) { (home) throws(KeychainError) in
            let service = try EmbeddedService(home: home)
            defer { service.close() }
            _ = try service.items.add(Items.addition("of build"), from: program)
        }
        let service = RoutedService(try TestKeychain.server(on: directory, clock: TestClock()))
        defer { service.close() }
        try service.administrator.setPasscode(Self.passcode) { _, _ in }
        _ = try service.by(program).add(Items.addition("of login"))
        let query = ItemQuery(.genericPassword, limit: .all)
        for (query, found) in [(query, 2), (Items.query("of build"), 1)] {
            #expect(try service.by(program).copyMatching(query, returning: .data).records.count == found)
        }
        let refused = #expect(throws: KeychainError.self) {
            try service.by(command).copyMatching(query, returning: .data)
        }
        #expect(refused?.status == .interactionNotAllowed)
        #expect(try service.by(command).copyMatching(query, returning: .attributes).records.count == 2)
    }

    @Test("A keychain that does not exist refuses the connection, and is not created by it")
    func missing() throws {
        let (fixture, _) = try Self.fixture()
        let (_, answer) = try Self.client(fixture, try #require(KeychainName("other")))
        #expect(answer.problem?.status == .noSuchKeychain)
        #expect(try UserKeychains(KeychainHome(root: fixture.directory.path)).names().count == 2)
        #expect(try fixture.client().ask(ReadStatus()).problem == nil)
    }

    @Test("A hello with a keychain that is not a name in its shortest form is malformed")
    func malformed() throws {
        for text in [
            "", "..", "../x", "a/b", ".draft", "build.keychain", "a\u{0}", String(repeating: "n", count: 101), "/",
            "/a/../b", "/a//b", "/a/",
        ] {
            var wire = WireHello()
            wire.version = WireVersion.current
            wire.keychain = text
            #expect(throws: WireError.self, "\(text.debugDescription)") { try Hello(wire) }
        }
        var wire = WireHello()
        wire.version = WireVersion.current
        wire.keychain = "build"
        #expect(try Hello(wire).keychain?.text == "build")
        wire.keychain = "/tmp/build.keychain-db"
        #expect(try Hello(wire).keychain?.text == "/tmp/build.keychain-db")
        wire.clearKeychain()
        #expect(try Hello(wire).keychain == nil)
    }
}
