// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import Latchkey
@_spi(Testing) import LatchkeyClient
import SecretMemory
import Testing

/// The lines of Swift in the articles of Latchkey.docc. DocumentationPagesTests compares them.
@Suite("Articles of Latchkey")
struct ArticleTests {
    private struct Credentials: Codable {
        var token: String
        var expires: Date
    }

    @Test("The lines of \"Start in five minutes\" compile and behave as stated")
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

    @Test("The lines about access controls compile and behave as stated")
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

    @Test("The lines about tasks compile and behave as stated")
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

    @Test("The lines of \"Cookbook\" about tokens compile and behave as stated")
    func tokens() async throws {
        let keychain = try Keychain.ephemeral()
        let account = InternetPassword(
            server: "forge.example.com", account: "alice", scheme: .https, label: "forge")
        try keychain.set(account, to: "t0ken")
        let token = try keychain.string(for: account)
        #expect(token == "t0ken")
        let accounts = try keychain.items(InternetPassword.self, matching: .init(scheme: .https))
        let names = accounts.filter { $0.label == "forge" }.map(\.account)
        #expect(names == ["alice"])

        let client = GenericPassword(service: "com.example.tokens", account: "alice")
        func stored(_ item: GenericPassword) throws(KeychainError) -> String? {
            do throws(KeychainError) {
                return try keychain.string(for: item)
            } catch {
                guard error.status == .itemNotFound else { throw error }
                return nil
            }
        }
        #expect(try stored(client) == nil)
        try keychain.set(client, to: "t0ken")
        #expect(try stored(client) == "t0ken")
        let expected = SharedSecret(try await keychain.async.secret(for: client))
        let isKnown = expected == SharedSecret(copying: "t0ken".utf8)
        #expect(isKnown)
    }

    @Test("The lines of \"Cookbook\" about keys and properties compile and behave as stated")
    func keys() throws {
        let keychain = try Keychain.ephemeral()
        let key = try keychain.generate(P256SigningKey.self, tag: "com.example.device", isExtractable: false)
        let signature = try key.signature(for: Data("GET /account".utf8))
        let isSigned = try key.publicKey.isValidSignature(signature, for: Data("GET /account".utf8))
        #expect(isSigned)
        let same = try keychain.key(P256SigningKey.self, tag: "com.example.device")
        #expect(try same.publicKey.x963 == key.publicKey.x963)

        @KeychainItem(service: "mail.example.com", account: "alice", in: keychain) var password: String?
        password = "s3cret"
        #expect(password == "s3cret")
    }

    @Test("The lines about tests and protection classes compile and behave as stated")
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
