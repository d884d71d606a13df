// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyCommands
import Testing

/// New passcodes and passphrases that are very common.
@Suite("Weak passcodes in commands")
struct WeakPasscodeTests {
    @Test(
        "passcode set and backup reject a very common secret, and accept it with --weak",
        arguments: [
            "password", "PassWord1", "123456", "111111", "aaaaaaaaaaaaaaaaaaaa", "qwertyuiop", "abcdefgh",
            "correct horse battery staple",
        ])
    func refused(passcode: String) throws {
        for (command, noun) in [("passcode set", "passcode"), ("backup -", "passphrase")] {
            let keychain = try TestKeychain(.ephemeral)
            let refusal = keychain.latchkey(command, io: TestIO(input: [passcode]))
            #expect(refusal.exit == 206 && refusal.output.isEmpty, "\(refusal)")
            #expect(refusal.error.contains("latchkey: the \(noun) is "), "\(refusal.error)")
            #expect(
                refusal.error.contains("easily guessed\nhint: choose another one, or use --weak to accept it\n"),
                "\(refusal.error)")
            #expect(!refusal.error.contains(passcode))
            #expect(keychain.latchkey("status").output.contains("passcode:    none"))
            #expect(keychain.latchkey("\(command) --weak", io: TestIO(input: [passcode])).exit == 0)
        }
    }

    @Test("passcode change rejects a weak passcode, and keeps the old one")
    func change() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.latchkey("passcode set", io: TestIO(input: ["an unusual passcode"])).exit == 0)
        let refusal = keychain.latchkey("passcode change", io: TestIO(input: ["an unusual passcode", "letmein1"]))
        #expect(refusal.exit == 206 && refusal.error.contains("one of the most common"))
        let change = keychain.latchkey(
            "passcode change --weak", io: TestIO(input: ["an unusual passcode", "letmein1"]))
        #expect(change.exit == 0, "\(change)")
    }

    @Test("any other passcode is accepted, a short one with a warning")
    func taken() throws {
        for passcode in ["an unusual passcode", "x7 k2 q", "пароль мой"] {
            let outcome = try TestKeychain(.ephemeral).latchkey("passcode set", io: TestIO(input: [passcode]))
            #expect(outcome.exit == 0 && outcome.error.contains("fewer than 15") == (passcode.count < 15), "\(outcome)")
        }
    }
}
