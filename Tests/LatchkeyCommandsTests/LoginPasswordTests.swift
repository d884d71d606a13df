// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// `latchkey login-password` (run by pam_latchkey), and the tie of the passcode to the login password.
@Suite("The login password")
struct LoginPasswordTests {
    private static let passcode = "correct horse battery"

    private static func prepared(_ backend: Backend) throws -> TestKeychain {
        let keychain = try TestKeychain(backend)
        #expect(keychain.latchkey("passcode set", io: TestIO(input: [passcode])).exit == 0)
        return keychain
    }

    /// The words as the module writes them.
    private static func input(_ words: String...) -> TestIO {
        let texts = words.map { word in
            String(decoding: [0, 0, UInt8(word.utf8.count >> 8), UInt8(word.utf8.count & 0x7F)], as: UTF8.self) + word
        }
        return TestIO(input: [texts.joined()])
    }

    private static func login(_ keychain: TestKeychain, _ password: String) -> Int32 {
        keychain.latchkey("login-password unlock", io: input(password)).exit
    }

    private static func state(_ keychain: TestKeychain) throws -> LockState {
        try keychain.service.administrator.lockStatus().state
    }

    // MARK: At login

    @Test("The right password unlocks a locked keychain of a daemon; an unlocked one is left as it is")
    func unlock() throws {
        let keychain = try Self.prepared(.daemon)
        #expect(Self.login(keychain, "any password") == LoginOutcome.nothingChanged.rawValue)
        #expect(keychain.latchkey("lock --now").exit == 0)
        #expect(Self.login(keychain, Self.passcode) == 0)
        #expect(try Self.state(keychain) == .unlocked)
    }

    @Test("A wrong password leaves the keychain locked, and the fifth wrong passcode is not a login's")
    func wrong() throws {
        let keychain = try Self.prepared(.daemon)
        #expect(keychain.latchkey("lock --now").exit == 0)
        try enterWrongPasscodes(1...4, counted: { try keychain.service.administrator.lockStatus().wrongPasscodes }) {
            password in
            #expect(Self.login(keychain, password) == LoginOutcome.staysLocked.rawValue)
        }
        for password in ["a wrong password 5", Self.passcode] {
            #expect(Self.login(keychain, password) == LoginOutcome.staysLockedAsReported.rawValue)
        }
        #expect(try keychain.service.administrator.lockStatus().delay == 0)
        #expect(keychain.latchkey("unlock", io: TestIO(input: [Self.passcode])).exit == 0)
        #expect(keychain.latchkey("lock --now").exit == 0)
        #expect(Self.login(keychain, Self.passcode) == 0)
    }

    @Test("Without a daemon, or without a passcode, there is nothing to unlock")
    func nothing() throws {
        let embedded = try Self.prepared(.onDisk)
        try embedded.service.administrator.lock(immediately: true)
        #expect(Self.login(embedded, Self.passcode) == LoginOutcome.nothingChanged.rawValue)
        let open = try TestKeychain(.daemon)
        #expect(Self.login(open, Self.passcode) == LoginOutcome.nothingChanged.rawValue)
    }

    @Test(
        "Input other than one word, or two for a change, is refused",
        arguments: [
            ("unlock", ""), ("unlock", "\0\0\0"), ("unlock", "\0\0\0\u{5}four"), ("unlock", "\0\0\u{7F}\u{7F}x"),
            ("unlock", "\0\0\0\u{1}a\0\0\0\u{1}b"), ("change", "\0\0\0\u{1}a"),
            ("change", "\0\0\0\u{1}a\0\0\0\u{1}b\0\0\0\u{1}c"), ("open", "\0\0\0\u{1}a"), ("", "\0\0\0\u{1}a"),
            ("unlock now", "\0\0\0\u{1}a"),
        ])
    func malformed(_ verb: String, _ input: String) throws {
        let keychain = try Self.prepared(.daemon)
        let outcome = keychain.latchkey("login-password \(verb)", io: TestIO(input: [input]))
        #expect(outcome.exit == LoginOutcome.failed.rawValue)
        #expect(outcome.error.hasPrefix("latchkey: expected "), "\(outcome)")
        #expect(try keychain.service.administrator.lockStatus().wrongPasscodes == 0)
    }

    @Test("The command is in no list, and security does not have it")
    func hidden() throws {
        let keychain = try TestKeychain(.ephemeral)
        for line in ["help", "help protection", "--help"] {
            #expect(!keychain.latchkey(line).output.contains(LoginPasswordCommand.name))
        }
        #expect(keychain.security("login-password unlock", io: Self.input("a")).exit == 1)
    }

    // MARK: The tie

    @Test("The tie requires a passcode, and the passcode; the status shows it", arguments: Backend.allCases)
    func tie(_ backend: Backend) throws {
        let open = try TestKeychain(backend)
        #expect(open.latchkey("passcode tie-to-login").error.contains("no passcode is set"))
        let keychain = try Self.prepared(backend)
        let refused = keychain.latchkey("passcode tie-to-login", io: TestIO(input: ["a wrong passcode"]))
        #expect(refused.exit == 51, "\(refused)")
        #expect(!keychain.latchkey("status").output.contains("login:"))
        #expect(keychain.latchkey("passcode tie-to-login", io: TestIO(input: [Self.passcode])).exit == 0)
        #expect(try keychain.service.administrator.lockStatus().settings.isTiedToLogin)
        #expect(keychain.latchkey("status").output.contains("login:       the passcode follows the login password"))
        #expect(keychain.latchkey("status --json").output.contains("\"tiedToLogin\" : true"))
        // A tie that is set already needs no passcode.
        #expect(keychain.latchkey("passcode tie-to-login").exit == 0)
        #expect(keychain.latchkey("passcode untie-from-login", io: TestIO(input: [Self.passcode])).exit == 0)
        #expect(try !keychain.service.administrator.lockStatus().settings.isTiedToLogin)
    }

    @Test("A change of the password changes a tied passcode, and no other", arguments: Backend.allCases)
    func change(_ backend: Backend) throws {
        let keychain = try Self.prepared(backend)
        func change(_ old: String, _ new: String) -> Int32 {
            keychain.latchkey("login-password change", io: Self.input(old, new)).exit
        }
        #expect(change(Self.passcode, "the next password") == LoginOutcome.nothingChanged.rawValue)
        #expect(keychain.latchkey("passcode tie-to-login", io: TestIO(input: [Self.passcode])).exit == 0)
        #expect(change("a wrong password", "the next password") == LoginOutcome.notChanged.rawValue)
        #expect(change(Self.passcode, "short") == LoginOutcome.notChanged.rawValue)
        #expect(change(Self.passcode, "the next password") == 0)
        #expect(try keychain.service.administrator.lockStatus().settings.isTiedToLogin)
        let changed = keychain.latchkey(
            "passcode change", io: TestIO(input: ["the next password", "another long passcode"]))
        #expect(changed.exit == 0, "\(changed)")
    }

    @Test("The tie ends with the passcode", arguments: Backend.allCases)
    func end(_ backend: Backend) throws {
        let keychain = try Self.prepared(backend)
        #expect(keychain.latchkey("passcode tie-to-login", io: TestIO(input: [Self.passcode])).exit == 0)
        #expect(keychain.latchkey("passcode remove", io: TestIO(input: [Self.passcode])).exit == 0)
        #expect(try !keychain.service.administrator.lockStatus().settings.isTiedToLogin)
        #expect(keychain.latchkey("login-password change", io: Self.input(Self.passcode, "x")).exit == 10)
    }
}
