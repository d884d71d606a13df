// SPDX-License-Identifier: Apache-2.0

import Foundation
import Latchkey
import LatchkeyService
import Synchronization
import Testing

@Suite("Properties with @KeychainItem")
struct PropertyTests {
    private static let alice = GenericPassword(service: "example.com", account: "alice")

    private struct State: Codable, Hashable {
        var token: String
        var count: Int
    }

    private struct Session {
        @KeychainItem var text: String?
        @KeychainItem var data: Data?
        @KeychainItem var bytes: [UInt8]?
        @KeychainItem var secret: SharedSecret?
        @KeychainItem var state: State?

        init(_ keychain: Keychain) {
            _text = KeychainItem(service: "example.com", account: "text", in: keychain)
            _data = KeychainItem(service: "example.com", account: "data", in: keychain)
            _bytes = KeychainItem(service: "example.com", account: "bytes", in: keychain)
            _secret = KeychainItem(service: "example.com", account: "secret", in: keychain)
            _state = KeychainItem(service: "example.com", account: "state", in: keychain)
        }
    }

    @Test("A property stores, returns and deletes the secret of its item in the form of its type")
    func forms() throws {
        let keychain = try Keychain.ephemeral()
        let session = Session(keychain)
        #expect(session.text == nil && session.$text.lastError == nil)
        session.text = "one"
        session.data = Data([0, 255])
        session.bytes = [1, 2]
        session.secret = SharedSecret(copying: "four".utf8)
        session.state = State(token: "t", count: 5)
        #expect(session.text == "one" && session.data == Data([0, 255]) && session.bytes == [1, 2])
        #expect(session.secret == SharedSecret(copying: "four".utf8) && session.state == State(token: "t", count: 5))
        let stored = try ["text", "data", "bytes", "secret", "state"].map {
            Array(try keychain.data(for: GenericPassword(service: "example.com", account: $0)))
        }
        #expect(
            stored == [
                Array("one".utf8), [0, 255], [1, 2], Array("four".utf8), Array(#"{"count":5,"token":"t"}"#.utf8),
            ])
        session.text = nil
        session.text = nil
        #expect(session.$text.lastError == nil)
        #expect(try !keychain.contains(GenericPassword(service: "example.com", account: "text")))
        #expect(try session.$text.read() == nil)
    }

    @Test("A property can be declared with its item, and the item can be an internet password")
    func declared() throws {
        let keychain = try Keychain.ephemeral()
        let site = InternetPassword(server: "example.com", account: "alice", scheme: .https)
        @KeychainItem(site, in: keychain) var password: String?
        @KeychainItem(service: "example.com", in: keychain) var token: String?
        password = "s3cret"
        try $token.write("t0k3n")
        #expect(try keychain.string(for: site) == "s3cret")
        #expect(try keychain.string(for: GenericPassword(service: "example.com")) == "t0k3n")
        try $password.delete()
        #expect(password == nil && token == "t0k3n")
    }

    @Test("An error of a property is kept and logged, and its projected value throws it")
    func errors() throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(Self.alice, to: Data([0xFF]))
        let log = Mutex<[String]>([])
        try ProgramLog.$current.withValue(ProgramLog { text in log.withLock { $0.append(text) } }) {
            let property = KeychainItem<String>(Self.alice, in: keychain)
            #expect(property.wrappedValue == nil)
            #expect(property.lastError?.status == .decode)
            #expect(property.lastError?.item == "generic password, service example.com, account alice")
            #expect(throws: KeychainError.self) { try property.read() }
            // A copy has the same item and the same last error.
            let copy = property
            copy.wrappedValue = "one"
            #expect(property.lastError == nil && property.wrappedValue == "one")
            try keychain.setPasscode("correct horse battery")
            try keychain.lock(immediately: true)
            property.wrappedValue = "two"
            #expect(copy.lastError?.status == .interactionNotAllowed)
            #expect(throws: KeychainError.self) { try property.write("two") }
            #expect(property.wrappedValue == nil)
            try keychain.unlock(passcode: "correct horse battery")
            #expect(property.wrappedValue == "one" && property.lastError == nil)
        }
        let texts = log.withLock { $0 }
        #expect(texts.count == 3, "\(texts)")
        #expect(texts.contains { $0.contains("was not stored: errSecInteractionNotAllowed") })
        #expect(!texts.contains { $0.contains("alice") })
    }

    @Test("A change in place of an item that cannot be read does not delete it")
    func changeInPlace() throws {
        let keychain = try Keychain.ephemeral()
        let session = Session(keychain)
        let text = GenericPassword(service: "example.com", account: "text")
        session.text = "one"
        session.text?.append("!")
        #expect(session.text == "one!")
        try keychain.setPasscode("correct horse battery")
        try keychain.lock(immediately: true)
        session.text?.append("?")
        session.text = nil
        #expect(session.$text.lastError?.status == .interactionNotAllowed)
        try keychain.unlock(passcode: "correct horse battery")
        #expect(session.text == "one!")
        // Damaged JSON is kept as well, and the projected value deletes it.
        let state = GenericPassword(service: "example.com", account: "state")
        try keychain.set(state, to: "not JSON")
        session.state?.count += 1
        #expect(session.$state.lastError?.status == .decode)
        #expect(try keychain.string(for: state) == "not JSON")
        try session.$state.delete()
        #expect(try !keychain.contains(state))
        session.text = nil
        #expect(try !keychain.contains(text))
    }
}
