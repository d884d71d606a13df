// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
@testable import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LatchkeyService
import SecretMemory
import Testing

/// The creation and deletion of keychains, and the search list, through the daemon.
@Suite("Managing keychains through the daemon")
struct KeychainRegistryTests {
    private static let passcode = SharedSecret(copying: "pw".utf8)
    private let fixture: ServerFixture
    private let build: KeychainName

    init() throws {
        fixture = try ServerFixture()
        build = try #require(KeychainName("build"))
    }

    private func client(_ name: KeychainName) throws -> RawClient {
        let client = RawClient(try fixture.socket())
        let answer = try client.ask(Hello(claim: CallerIdentity(executable: "/usr/bin/example"), keychain: name))
        if let problem = answer.problem { throw problem }
        return client
    }

    private func overview(_ client: RawClient) throws -> KeychainOverview {
        guard case .content(let content) = try client.ask(ListKeychains()) else { throw KeychainError(.param) }
        return try #require(content as? KeychainOverview)
    }

    private func isFound(_ account: String, _ client: RawClient) throws -> Bool {
        try client.ask(CopyItems(Items.query(account), returning: .data)).problem == nil
    }

    @Test("A keychain is created unlocked, with any password, at the end of the search list")
    func creation() throws {
        let client = try fixture.client()
        #expect(try client.ask(CreateKeychain(build, passcode: Self.passcode)).problem == nil)
        #expect(try overview(client).places.map(\.name) == [.login, build])
        #expect(try overview(client).list.search == [.login, build])
        let named = try self.client(build)
        #expect(try named.ask(AddItem(Items.addition("a"))).problem == nil)
        #expect(try named.ask(LockKeychain(immediately: true)).problem == nil)
        #expect(try !isFound("a", named))
        let wrong = SharedSecret(copying: "pq".utf8)
        #expect(try named.ask(UnlockKeychain(wrong)).problem?.status == .authFailed)
        #expect(try named.ask(UnlockKeychain(Self.passcode)).problem == nil)
        #expect(try isFound("a", named))
        let again = try client.ask(CreateKeychain(build, passcode: nil)).problem
        #expect(again?.status == .duplicateKeychain)
    }

    @Test("A keychain that was removed by hand is created again, with another password")
    func replaced() throws {
        let client = try fixture.client()
        #expect(try client.ask(CreateKeychain(build, passcode: Self.passcode)).problem == nil)
        #expect(try self.client(build).ask(AddItem(Items.addition("a"))).problem == nil)
        let place = try #require(try overview(client).place(build))
        try FileManager.default.removeItem(atPath: place.path)
        let other = SharedSecret(copying: "other".utf8)
        #expect(try client.ask(CreateKeychain(build, passcode: other)).problem == nil)
        let named = try self.client(build)
        #expect(try !isFound("a", named))
        #expect(try named.ask(AddItem(Items.addition("b"))).problem == nil)
        #expect(try named.ask(LockKeychain(immediately: true)).problem == nil)
        #expect(try named.ask(UnlockKeychain(Self.passcode)).problem?.status == .authFailed)
        #expect(try named.ask(UnlockKeychain(other)).problem == nil)
        #expect(try isFound("b", named))
        // A refused creation does not lock the existing keychain.
        #expect(try client.ask(CreateKeychain(build, passcode: other)).problem?.status == .duplicateKeychain)
        #expect(try isFound("b", named))
    }

    @Test("A connection without a name follows the search list at once, and adds to the default keychain")
    func searchList() throws {
        let client = try fixture.client()
        #expect(try client.ask(AddItem(Items.addition("first"))).problem == nil)
        #expect(try client.ask(CreateKeychain(build, passcode: nil)).problem == nil)
        #expect(try client.ask(ChangeKeychainList(.defaultKeychain(build))).problem == nil)
        #expect(try client.ask(AddItem(Items.addition("second"))).problem == nil)
        let (login, named) = (try self.client(.login), try self.client(build))
        #expect(try isFound("first", login) && !isFound("second", login))
        #expect(try isFound("second", named) && !isFound("first", named))
        #expect(try isFound("first", client) && isFound("second", client))
        #expect(try client.ask(ChangeKeychainList(.search([build]))).problem == nil)
        #expect(try !isFound("first", client) && isFound("second", client))
        let other = try #require(KeychainName("other"))
        #expect(try client.ask(ChangeKeychainList(.defaultKeychain(other))).problem?.status == .noSuchKeychain)
        // As on macOS, a keychain may be in the list before it exists.
        #expect(try client.ask(ChangeKeychainList(.search([other, build]))).problem == nil)
        #expect(try overview(client).list.search == [other, build])
        #expect(try !isFound("first", client) && isFound("second", client))
    }

    @Test("Keychains with a path are created, listed and deleted beside those with a name")
    func paths() throws {
        let client = try fixture.client()
        let names = try ["/tmp/one/build.keychain-db", "/tmp/two/build.keychain-db"].map {
            try #require(KeychainName($0))
        }
        for name in names + [build] {
            #expect(try client.ask(CreateKeychain(name, passcode: nil)).problem == nil)
            #expect(try self.client(name).ask(AddItem(Items.addition(name.text))).problem == nil)
        }
        #expect(try overview(client).places.map(\.name) == [.login, build] + names)
        #expect(try overview(client).places.suffix(2).map(\.path) == names.map(\.text))
        #expect(try isFound(names[0].text, try self.client(names[0])))
        #expect(try !isFound(names[0].text, try self.client(names[1])))
        #expect(try client.ask(CreateKeychain(names[0], passcode: nil)).problem?.status == .duplicateKeychain)
        #expect(try client.ask(DeleteKeychain(names[0])).problem == nil)
        #expect(try overview(client).list.search == [.login, names[1], build])
        #expect(try isFound(names[1].text, client) && !isFound(names[0].text, client))
    }

    @Test("A deleted keychain is closed for those who use it, and does not come back")
    func deletion() throws {
        let client = try fixture.client()
        #expect(try client.ask(CreateKeychain(build, passcode: nil)).problem == nil)
        #expect(try client.ask(ChangeKeychainList(.defaultKeychain(build))).problem == nil)
        let named = try self.client(build)
        #expect(try named.ask(AddItem(Items.addition("a"))).problem == nil)
        #expect(try client.ask(DeleteKeychain(build)).problem == nil)
        #expect(try named.ask(AddItem(Items.addition("b"))).problem?.status == .noSuchKeychain)
        #expect(try overview(client).places.map(\.name) == [.login])
        #expect(try overview(client).list == .initial)
        #expect(try client.ask(DeleteKeychain(build)).problem?.status == .noSuchKeychain)
        #expect(try client.ask(DeleteKeychain(.login)).problem?.status == .param)
        // A new one of the same name has nothing of it.
        #expect(try client.ask(CreateKeychain(build, passcode: nil)).problem == nil)
        #expect(try !isFound("a", try self.client(build)))
        let files = try FileManager.default.contentsOfDirectory(
            atPath: fixture.directory.path + "/data/keychains")
        #expect(files == [build.fileName])
    }

    @Test("Of many clients that create one name, one succeeds")
    func race() throws {
        let clients = try (0..<8).map { _ in try fixture.client() }
        for client in clients { try client.send(CreateKeychain(build, passcode: nil)) }
        let outcomes = try clients.map { try $0.receive()?.problem?.status }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.filter { $0 == .duplicateKeychain }.count == 7)
    }

    @Test("A decision is in the log of the keychain that it is about, and the creation in that of the login keychain")
    func log() throws {
        let client = try self.client(.login)
        #expect(try client.ask(CreateKeychain(build, passcode: nil)).problem == nil)
        let unnamed = try fixture.client()
        #expect(try unnamed.ask(ChangeKeychainList(.search([build, .login]))).problem == nil)
        #expect(try self.client(build).ask(AddItem(Items.addition("a"))).problem == nil)
        #expect(try isFound("a", unnamed))
        fixture.server.stop()
        let home = KeychainHome(root: fixture.directory.path)
        let login = try String(contentsOfFile: home.stateDirectory + "/audit.log", encoding: .utf8)
        #expect(login.contains(#""operation":"create-keychain""#) && login.contains(#""keychain":"build""#))
        #expect(!login.contains(#""operation":"copy""#))
        let own = try String(
            contentsOfFile: "\(home.stateDirectory)/keychains/\(build.fileName)/audit.log", encoding: .utf8)
        #expect(own.contains(#""operation":"add""#) && own.contains(#""operation":"copy""#))
    }

    @Test("Settings of automatic locks change without the password of an unlocked keychain, and are stored later")
    func settings() throws {
        let client = try fixture.client()
        #expect(try client.ask(CreateKeychain(build, passcode: Self.passcode)).problem == nil)
        let named = try self.client(build)
        func settings() throws -> KeybagSettings? {
            guard case .content(let content) = try named.ask(ReadLockStatus()) else { return nil }
            return (content as? LockStatus)?.settings
        }
        var wanted = try #require(try settings())
        (wanted.lockInterval, wanted.locksOnSleep) = (21_600, true)
        #expect(try named.ask(ChangeSettings(wanted, nil)).problem == nil)
        #expect(try settings() == wanted)
        var wiping = wanted
        wiping.wipesAfterTen = true
        #expect(try named.ask(ChangeSettings(wiping, nil)).problem != nil)
        #expect(try named.ask(LockKeychain(immediately: true)).problem == nil)
        #expect(try named.ask(ChangeSettings(KeybagSettings(), nil)).problem != nil)
        #expect(try named.ask(UnlockKeychain(Self.passcode)).problem == nil)
        fixture.server.stop()
        let home = UserKeychains(KeychainHome(root: fixture.directory.path)).home(of: build)
        #expect(try HomeOwnership.removeMarker(home))
        let reopened = try EmbeddedService(home: home)
        defer { reopened.close() }
        #expect(try reopened.lock.status().settings == wanted)
    }
}
