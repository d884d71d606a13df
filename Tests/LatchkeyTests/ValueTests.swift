// SPDX-License-Identifier: Apache-2.0

import Foundation
import Latchkey
import Testing

@Suite("Codable values")
struct ValueTests {
    private let alice = GenericPassword(service: "example.com", account: "alice")

    private struct Credentials: Codable, Hashable {
        var token: String
        var key = Data([0, 255])
        var expires = Date(timeIntervalSinceReferenceDate: 817_041_600.25)
        var scopes: [String: Int] = ["b/c": 2, "a": 1]
    }

    @Test("A value is stored as JSON with sorted keys, and returned as it was")
    func roundTrip() throws {
        let keychain = try Keychain.ephemeral()
        let credentials = Credentials(token: "t0k3n")
        try keychain.add(alice, value: credentials)
        #expect(try keychain.value(Credentials.self, for: alice) == credentials)
        #expect(
            try keychain.string(for: alice)
                == #"{"expires":817041600.25,"key":"AP8=","scopes":{"a":1,"b/c":2},"token":"t0k3n"}"#)
        try keychain.set(alice, toValue: Credentials(token: "t1"))
        #expect(try keychain.value(Credentials.self, for: alice).token == "t1")
        try keychain.set(alice, toValue: "text")
        #expect(try keychain.string(for: alice) == "\"text\"")
        #expect(try keychain.value(String.self, for: alice) == "text")
        #expect(try #require(throws: KeychainError.self) { try keychain.add(alice, value: 1) }.status == .duplicateItem)
    }

    @Test(
        "A secret that is not the JSON of the type is an error that names the item and no value",
        arguments: [
            ("", "it is not valid"), ("s3cret", "it is not valid"), ("s3cret\u{0}", "it is not valid"),
            (#"{"token":"s3cret"}"#, "the key key is missing"), (#"{"key":"s3cret","token":""}"#, "it is not valid"),
            (#"{"expires":0,"key":"","scopes":{"s3cret":"s3cret"},"token":""}"#, "a value is not of type Int"),
            (#"{"expires":0,"key":"","scopes":{"s3cret":1},"token":null}"#, "String"),
            (String(repeating: "[", count: 100_000), "it is not valid"),
        ])
    func invalid(secret: String, reason: String) throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(alice, to: secret)
        let error = try #require(throws: KeychainError.self) { try keychain.value(Credentials.self, for: alice) }
        #expect(error.status == .decode)
        #expect(error.item == "generic password, service example.com, account alice")
        #expect(error.problem.contains("Credentials") && error.problem.contains(reason), "\(error.problem)")
        #expect(!error.problem.contains("s3cret"))
    }

    @Test("A value that cannot be encoded is refused, and the stored secret does not change")
    func refused() throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(alice, toValue: [1.5])
        let error = try #require(throws: KeychainError.self) { try keychain.set(alice, toValue: [Double.nan]) }
        #expect(error.status == .param && error.item == "generic password, service example.com, account alice")
        #expect(try keychain.value([Double].self, for: alice) == [1.5])
        let missing = try #require(throws: KeychainError.self) {
            try keychain.value([Double].self, for: GenericPassword(service: "example.com", account: "bob"))
        }
        #expect(missing.status == .itemNotFound)
    }
}
