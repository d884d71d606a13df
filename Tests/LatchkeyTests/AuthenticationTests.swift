// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import Latchkey
@_spi(Testing) import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Items with an access control, in a keychain that asks the person for its one item.
@Suite("Access control")
struct AuthenticationTests {
    private static let alice = GenericPassword(service: "S", account: "A")

    private func with<Result>(_ service: AskingService, _ body: () throws -> Result) rethrows -> Result {
        try CallerContext.$current.withValue(Self.context(service)) { try body() }
    }

    private static func context(_ service: AskingService) -> CallerContext {
        CallerContext(identity: .init(executable: "/usr/bin/program"), service: service)
    }

    @Test(
        "Access controls have Apple's flags",
        arguments: [
            (.userPresence, .userPresence), (.devicePasscode, .devicePasscode), (.biometryAny, .biometryAny),
            (.biometryCurrentSet, .biometryCurrentSet), (.securityKey, .latchkeySecurityKey),
            (.applicationPassword, .applicationPassword), (.any(.devicePasscode), .devicePasscode),
            (.any(.biometryAny, .devicePasscode), [.biometryAny, .devicePasscode, .or]),
            (.all(.biometryCurrentSet, .securityKey), [.biometryCurrentSet, .latchkeySecurityKey, .and]),
            (.nothing, []), (.userPresence.withApplicationPassword, [.userPresence, .applicationPassword]),
        ] as [(AccessControl, AccessControlFlags)])
    func flags(_ control: AccessControl, _ expected: AccessControlFlags) {
        #expect(control.flags == expected)
    }

    @Test("Every single constraint, and every pair that can be created, parses in the model")
    func parsing() throws {
        for one in AccessControl.Constraint.allCases {
            #expect(try AccessConstraints.parse(AccessControl.all(one).flags)?.terms.count == 1)
            for other in AccessControl.Constraint.allCases where other != one {
                if Set([one, other]) == [.biometryAny, .biometryCurrentSet] { continue }
                #expect(try AccessConstraints.parse(AccessControl.any(one, other).flags)?.threshold == .one)
                #expect(try AccessConstraints.parse(AccessControl.all(one, other).flags)?.threshold == .all)
            }
        }
    }

    @Test("After a restart of latchkeyd, an authenticated keychain asks once more", arguments: Backend.daemons)
    func restart(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let passcode = SharedSecret(copying: "passcode of the test".utf8)
        try keychain.service.administrator.setPasscode(passcode) { _, _ in }
        try keychain.run(groups: ["G1"]) {
            var item = Self.alice
            item.accessControl = .userPresence
            try Keychain.default.add(item, secret: "s3cret")
            let authenticated = Keychain.default.authenticated(reason: "a test")
            for _ in 0..<2 {
                keychain.person.will(.types("passcode of the test"))
                for _ in 0..<2 { #expect(try authenticated.string(for: Self.alice) == "s3cret") }
                #expect(keychain.person.takeQuestions().count == 1)
                try keychain.restartDaemon()
                try keychain.service.administrator.unlock(passcode) { _, _ in }
            }
        }
        #expect(keychain.person.unusedAnswers == 0)
    }

    @Test("A new item has the access control, and the class whenUnlocked unless it names another")
    func adding() throws {
        let service = AskingService()
        try with(service) {
            var item = Self.alice
            item.accessControl = .any(.biometryAny, .devicePasscode)
            try Keychain.default.add(item, secret: "s3cret")
            item.protection = .afterFirstUnlock
            try Keychain.default.add(item, secret: "s3cret")
            _ = try Keychain.default.generate(P256SigningKey.self, tag: "t", accessControl: .userPresence)
        }
        let additions = service.additions
        #expect(additions.first?.accessControlFlags == [.biometryAny, .devicePasscode, .or])
        #expect(additions.first?.protection == .whenUnlocked)
        #expect(additions.contains { $0.protection == .afterFirstUnlock })
        #expect(additions.last?.accessControlFlags == [.userPresence, .privateKeyUsage])
        #expect(additions.last?.protection == .whenUnlocked)
    }

    @Test("An item that is read has its stored access control, so that storing it again keeps it")
    func record() throws {
        let service = AskingService()
        try with(service) {
            let item = try #require(try Keychain.default.items(GenericPassword.self).first)
            #expect(item.accessControl == .userPresence)
            try Keychain.default.set(item, to: "new")
            #expect(service.updates.last?.accessControlFlags == .userPresence)
            #expect(service.updates.last?.protection == .whenUnlocked)
            // Another class alone does not remove it; `nothing` does.
            var other = Self.alice
            other.protection = .afterFirstUnlock
            try Keychain.default.set(other, to: "new")
            #expect(service.updates.last?.accessControlFlags == .userPresence)
            #expect(service.updates.last?.protection == .afterFirstUnlock)
            other = Self.alice
            other.accessControl = .nothing
            try Keychain.default.set(other, to: "new")
            #expect(service.updates.last?.accessControlFlags == [] && service.updates.last?.protection == .whenUnlocked)
            // Settings that an item does not name are not changed.
            try Keychain.default.set(Self.alice, to: "new")
            #expect(service.updates.last?.protection == nil && service.updates.last?.accessControlFlags == nil)
        }
    }

    @Test("Each call asks once, also one of several requests; an authenticated keychain asks once for all calls")
    func questions() throws {
        let service = AskingService()
        try with(service) {
            #expect(try Keychain.default.string(for: Self.alice) == "s3cret")
            try Keychain.default.set(Self.alice, to: "new")
            #expect(service.questions.count == 2 && service.openContexts == 0)
            let keychain = Keychain.default.authenticated(reason: "show the account")
            #expect(try keychain.string(for: Self.alice) == "s3cret")
            #expect(try keychain.inAccessGroup("latchkey.shared").data(for: Self.alice).count == 6)
            try keychain.set(Self.alice, to: "new")
            #expect(service.questions.count == 3 && service.openContexts == 1)
            #expect(service.questions.last?.prompt.reason == "show the account")
            withExtendedLifetime(keychain) {}
        }
        #expect(service.openContexts == 0)
    }

    @Test("A closure's calls ask once, and the authentication ends with the closure, also if it keeps the keychain")
    func closure() throws {
        let service = AskingService()
        try with(service) {
            var kept: Keychain?
            let both = try Keychain.default.authenticated(reason: "sign in") { keychain throws(KeychainError) in
                kept = keychain
                return (try keychain.string(for: Self.alice), try keychain.string(for: Self.alice))
            }
            #expect(both == ("s3cret", "s3cret") && service.questions.count == 1 && service.openContexts == 0)
            let error = #expect(throws: KeychainError.self) { try kept?.string(for: Self.alice) }
            #expect(error?.authentication == .failed(.invalidContext))
            #expect(service.questions.count == 1)
        }
    }

    @Test("The asynchronous calls share an authentication in the same way")
    func asynchronous() async throws {
        let service = AskingService()
        try await CallerContext.$current.withValue(Self.context(service)) {
            let keychain = Keychain.default.async.authenticated(reason: "show the account")
            #expect(try await keychain.string(for: Self.alice) == "s3cret")
            #expect(try await keychain.string(for: Self.alice) == "s3cret")
            #expect(service.questions.count == 1)
            let text = try await Keychain.default.async.authenticated(reason: "sign in") {
                keychain throws(KeychainError) in
                try keychain.string(for: Self.alice)
            }
            #expect(text == "s3cret" && service.questions.count == 2)
            let error = await #expect(throws: KeychainError.self) {
                try await Keychain.default.async.withoutPrompts().string(for: Self.alice)
            }
            #expect(error?.status == .interactionNotAllowed)
        }
    }

    @Test("Without prompts a call throws, a list leaves the item out; whether it exists is known without a question")
    func silent() throws {
        let service = AskingService()
        try with(service) {
            let keychain = Keychain.default.withoutPrompts()
            let error = #expect(throws: KeychainError.self) { try keychain.string(for: Self.alice) }
            #expect(error?.status == .interactionNotAllowed && error?.authentication == .failed(.notInteractive))
            #expect(try keychain.items(GenericPassword.self).isEmpty)
            #expect(try keychain.contains(Self.alice) && Keychain.default.contains(Self.alice))
            try keychain.delete(Self.alice)
        }
        #expect(service.questions.isEmpty)
    }

    @Test("A key of an authenticated keychain keeps the authentication; another key asks for each use")
    func keys() throws {
        let service = AskingService()
        try with(service) {
            let key = try Keychain.default.authenticated(reason: "sign").key(P256SigningKey.self, tag: "tag")
            _ = try key.signature(for: [1, 2, 3])
            _ = try key.signature(for: [1, 2, 3])
            #expect(service.questions.count == 1)
            let other = try Keychain.default.key(P256SigningKey.self, tag: "tag")
            _ = try other.signature(for: [1, 2, 3])
            #expect(service.questions.count == 3)
            withExtendedLifetime(key) {}
        }
        #expect(service.openContexts == 0)
    }

    @Test("A property with an access control stores it, and reads with the keychain that it was given")
    func property() {
        let service = AskingService()
        with(service) {
            @KeychainItem(service: "S", account: "A", accessControl: .userPresence, in: .default.withoutPrompts())
            var text: String?
            #expect(text == nil && $text.lastError?.status == .interactionNotAllowed)
            @KeychainItem(
                service: "S", account: "A", accessControl: .devicePasscode, in: .default.authenticated(reason: "why"))
            var other: String?
            #expect(other == "s3cret")
            other = "new"
            #expect($other.lastError == nil && service.updates.last?.accessControlFlags == .devicePasscode)
            #expect(service.questions.map(\.prompt.reason) == ["why"])
        }
    }

    @Test("An application password must not be empty")
    func password() throws {
        try with(AskingService()) {
            let error = #expect(throws: KeychainError.self) { try Keychain.default.authenticated(password: "") }
            #expect(error?.status == .param)
            let text = try Keychain.default.authenticated(password: "p4ssword").string(for: Self.alice)
            #expect(text == "s3cret")
        }
    }

    @Test("The reason of a failure is in the error: cancelled, not interactive, or not recognized")
    func failures() {
        for failure in AuthenticationFailure.allCases {
            with(AskingService { failure }) {
                let error = #expect(throws: KeychainError.self) { try Keychain.default.string(for: Self.alice) }
                #expect(error?.authentication == .failed(failure) && error?.status == failure.status)
                #expect(error?.item == "generic password, service S, account A")
            }
        }
    }
}
