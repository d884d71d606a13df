// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Latchkey
import LatchkeyOperations
import LatchkeyService
import Testing

@Suite("Changes of a keychain")
struct ChangeTests {
    private let alice = GenericPassword(service: "example.com", account: "alice")
    private let bob = GenericPassword(service: "example.com", account: "bob")
    private static let backends = Backend.allCases

    /// Runs calls of Latchkey on a test's keychain.
    private func run<Result>(_ keychain: TestKeychain, _ body: () throws -> Result) rethrows -> Result {
        try keychain.run(groups: ["G1", "G2"], body)
    }

    @Test("Every kind of change is announced, and can be read when it is announced", arguments: backends)
    func kinds(_ backend: Backend) async throws {
        let keychain = try TestKeychain(backend)
        var changes = try run(keychain) { try Keychain.default.changes() }.makeAsyncIterator()
        let kinds: [() throws -> Void] = [
            { try Keychain.default.add(alice, secret: "one") },
            { try Keychain.default.set(alice, to: "two") },
            { _ = try Keychain.default.generate(P256SigningKey.self, tag: "tag") },
            { try Keychain.default.setPasscode("correct horse battery") },
            { try Keychain.default.delete(alice) },
        ]
        var last = 0
        for change in kinds {
            try run(keychain, change)
            let number = try #require(await changes.next()).number
            #expect(number > last)
            last = number
        }
        #expect(try run(keychain) { try !Keychain.default.contains(alice) })
        withExtendedLifetime(keychain) {}
    }

    @Test("Reading, and calls that change nothing, are not announced", arguments: backends)
    func nothing(_ backend: Backend) async throws {
        let keychain = try TestKeychain(backend)
        try run(keychain) { try Keychain.default.add(alice, secret: "one") }
        var changes = try run(keychain) { try Keychain.default.changes() }.makeAsyncIterator()
        try run(keychain) {
            #expect(try Keychain.default.string(for: alice) == "one")
            _ = try (Keychain.default.findings(), Keychain.default.lockStatus)
            #expect(throws: KeychainError.self) { try Keychain.default.delete(bob) }
            #expect(throws: KeychainError.self) { try Keychain.default.add(alice, secret: "two") }
            try Keychain.default.add(bob, secret: "one")
        }
        #expect(await changes.next()?.number == 1)
        withExtendedLifetime(keychain) {}
    }

    @Test("Changes that no task has taken are one element, and a later change is another one", arguments: backends)
    func coalesced(_ backend: Backend) async throws {
        let keychain = try TestKeychain(backend)
        var changes = try run(keychain) { try Keychain.default.changes() }.makeAsyncIterator()
        for number in 0..<20 { try run(keychain) { try Keychain.default.set(alice, to: "\(number)") } }
        let first = try #require(await changes.next()).number
        #expect((1...20).contains(first))
        if backend == .ephemeral { #expect(first == 20) }
        var others = try run(keychain) { try Keychain.default.changes() }.makeAsyncIterator()
        try run(keychain) { try Keychain.default.set(alice, to: "last") }
        #expect(try #require(await changes.next()).number > first)
        #expect(await others.next() != nil)
        withExtendedLifetime(keychain) {}
    }

    @Test("A change through another service on the same files is announced")
    func elsewhere() async throws {
        let keychain = try TestKeychain(.onDisk)
        var changes = try run(keychain) { try Keychain.default.changes() }.makeAsyncIterator()
        let other = try TestKeychain(.onDisk, in: try #require(keychain.directory), clock: keychain.clock)
        try run(other) { try Keychain.default.set(alice, to: "one") }
        #expect(await changes.next() != nil)
        #expect(try run(keychain) { try Keychain.default.string(for: alice) } == "one")
        withExtendedLifetime((keychain, other)) {}
    }

    @Test("The stream ends when the keychain is closed", arguments: backends)
    func closed(_ backend: Backend) async throws {
        let keychain = try TestKeychain(backend)
        var changes = try run(keychain) { try Keychain.default.changes() }.makeAsyncIterator()
        keychain.service.close()
        #expect(await changes.next() == nil)
    }

    @Test("The stream ends when the directory of the keychain is renamed")
    func renamed() async throws {
        let keychain = try TestKeychain(.onDisk)
        var changes = try run(keychain) { try Keychain.default.changes() }.makeAsyncIterator()
        let data = try #require(keychain.directory).path + "/data"
        try FileManager.default.moveItem(atPath: data, toPath: data + ".old")
        #expect(await changes.next() == nil)
        withExtendedLifetime(keychain) {}
    }

    @Test("The stream ends with the task that reads it")
    func cancelled() async throws {
        let keychain = try Keychain.ephemeral()
        let changes = try await keychain.async.changes()
        let task = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }
}
