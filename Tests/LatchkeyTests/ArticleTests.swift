// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import Latchkey
@_spi(Testing) import LatchkeyClient
import Testing

/// The lines of Swift in the articles of Latchkey.docc. DocumentationPagesTests compares them.
@Suite("Articles of Latchkey")
struct ArticleTests {
    private struct Credentials: Codable {
        var token: String
        var expires: Date
    }

    @Test("The lines of \"Start in five minutes\" compile and do what they say")
    func start() async throws {
        let keychain = try Keychain.ephemeral()
        var questions: [String] = []
        func askForPassword() { questions.append("password") }
        func askToUnlock() { questions.append("unlock") }

        let alice = GenericPassword(service: "example.com", account: "alice")
        try keychain.set(alice, to: "s3cret")
        let secret = try keychain.string(for: alice)
        #expect(secret == "s3cret")

        try keychain.set(alice, toValue: Credentials(token: "t0k3n", expires: .now))
        let credentials = try keychain.value(Credentials.self, for: alice)
        #expect(credentials.token == "t0k3n")

        try keychain.delete(alice)
        do {
            _ = try keychain.string(for: alice)
        } catch KeychainError.itemNotFound {
            askForPassword()
        } catch KeychainError.interactionNotAllowed {
            askToUnlock()
        }
        #expect(questions == ["password"])
    }

    @Test("The lines about access controls compile and do what they say")
    func accessControls() throws {
        let service = AskingService()
        let caller = CallerContext(identity: .init(executable: "/usr/bin/program"), service: service)
        try CallerContext.$current.withValue(caller) {
            let keychain = Keychain.default
            var shown = 0
            func showUnlockButton() { shown += 1 }

            let bank = GenericPassword(
                service: "bank.example", account: "alice", accessControl: .any(.biometryAny, .devicePasscode))
            try keychain.set(bank, to: "s3cret")
            #expect(service.updates.last?.accessControlFlags == [.biometryAny, .devicePasscode, .or])

            let unlocked = keychain.authenticated(reason: "show your accounts")
            let secret = try unlocked.string(for: bank)
            #expect(secret == "s3cret")
            let both = try keychain.authenticated(reason: "sign in") { keychain throws(KeychainError) in
                [try keychain.string(for: bank), try keychain.string(for: bank)]
            }
            #expect(both == ["s3cret", "s3cret"])
            #expect(service.questions.map(\.prompt.reason) == ["", "show your accounts", "sign in"])
            do {
                _ = try keychain.withoutPrompts().string(for: bank)
            } catch KeychainError.interactionNotAllowed {
                showUnlockButton()
            }
            #expect(shown == 1)
            let key = try keychain.generate(P256SigningKey.self, tag: "com.example.key", accessControl: .userPresence)
            #expect(key.isStored)
        }
    }

    @Test("The lines about tasks compile and do what they say")
    func tasks() async throws {
        let keychain = try Keychain.ephemeral()
        let alice = GenericPassword(service: "example.com", account: "alice")
        try keychain.set(alice, to: "s3cret")
        let current = try await keychain.async.string(for: alice)
        #expect(current == "s3cret")
        let reader = Task {
            var accounts: [GenericPassword] = []
            for await _ in try await keychain.async.changes() {
                accounts = try await keychain.async.items(GenericPassword.self)
            }
            return accounts
        }
        reader.cancel()
        _ = try? await reader.value
    }

    @Test("The lines about tests and protection classes compile and do what they say")
    func others() throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(GenericPassword(service: "example.com", account: "alice"), to: "s3cret")
        let job = GenericPassword(service: "backup", account: "nightly", protection: .afterFirstUnlock)
        try keychain.set(job, to: "s3cret")
        try keychain.setPasscode("correct horse battery")
        try keychain.lock(immediately: true)
        #expect(try keychain.string(for: job) == "s3cret")
    }
}
