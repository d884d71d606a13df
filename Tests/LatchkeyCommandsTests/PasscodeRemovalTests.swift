// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// `latchkey passcode remove`: it destroys the items that only the passcode opens.
@Suite("latchkey passcode remove")
struct PasscodeRemovalTests {
    private static let passcode = "the passcode"

    /// A keychain with a passcode. Two of its four items need it.
    private func prepared(_ backend: Backend) throws -> TestKeychain {
        let keychain = try TestKeychain(backend)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: Self.passcode.utf8)) { _, _ in }
        let session = KeychainSession(keychain.service, as: CallerIdentity(executable: "/usr/bin/example"))
        let context = try session.createContext()
        try session.service.by(session.caller).setApplicationPassword(SharedSecret(copying: "pw".utf8), in: context)
        let items: [(String, ProtectionClass, AccessControlFlags?)] = [
            ("plain", .whenUnlocked, nil), ("class", .whenPasscodeSetThisDeviceOnly, nil),
            ("presence", .whenUnlocked, .userPresence), ("password", .whenUnlocked, .applicationPassword),
        ]
        for (account, protection, flags) in items {
            _ = try session.add(
                ItemAddition(
                    .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
                    secrets: ItemSecrets(data: SharedSecret(copying: [1])), protection: protection,
                    accessControlFlags: flags, authentication: Authentication(.fail, context: context)))
        }
        return keychain
    }

    private func items(_ keychain: TestKeychain) throws -> Int {
        try keychain.service.administrator.status().counts.reduce(0) { $0 + $1.count }
    }

    @Test("A dry run says how many items need the passcode, as text and as JSON", arguments: Backend.allCases)
    func dryRun(_ backend: Backend) throws {
        let keychain = try prepared(backend)
        let text = keychain.latchkey("passcode remove --dry-run")
        #expect(text.exit == 0 && text.output.isEmpty)
        #expect(text.error == "latchkey: the passcode would be removed; 2 items would be destroyed\n")
        let json = keychain.latchkey("passcode remove --dry-run --json")
        #expect(json.exit == 0 && json.error.isEmpty)
        #expect(json.output == "{\n  \"items\" : 2,\n  \"removed\" : false\n}\n")
        #expect(keychain.latchkey("status --json").output.contains("\"itemsRequiringPasscode\" : 2"))
        #expect(try keychain.service.administrator.status().hasPasscode && items(keychain) == 4)
    }

    @Test(
        "Without a terminal and without --yes, and after any answer but yes, nothing is destroyed",
        arguments: Backend.allCases)
    func refused(_ backend: Backend) throws {
        let keychain = try prepared(backend)
        let silent = keychain.latchkey("passcode remove", io: TestIO(input: [Self.passcode]))
        #expect(silent.exit == 206 && silent.error.contains("2 items would be destroyed"), "\(silent)")
        #expect(silent.error.contains("hint: --yes skips the question"))
        for answer in ["no", "n", ""] {
            let outcome = keychain.latchkey("passcode remove", io: TestIO(input: [answer], answers: [Self.passcode]))
            #expect(outcome.exit == 128, "\(outcome)")
            #expect(
                outcome.error.hasPrefix("latchkey: 2 items will be destroyed with the passcode. Continue? (yes/no)"))
            #expect(!outcome.error.contains("of the keychain: "), "the passcode is asked for after the question only")
        }
        #expect(try keychain.service.administrator.status().hasPasscode && items(keychain) == 4)
    }

    @Test("After the answer yes, or with --yes, exactly the items that need the passcode are destroyed")
    func removed() throws {
        for (line, io) in [
            ("passcode remove", TestIO(input: ["yes"], answers: [Self.passcode])),
            ("passcode remove --yes", TestIO(input: [Self.passcode])),
        ] {
            let keychain = try prepared(.daemon)
            let outcome = keychain.latchkey(line, io: io)
            #expect(outcome.exit == 0 && outcome.error.contains("the passcode is removed, and 2 items were destroyed;"))
            #expect(try !keychain.service.administrator.status().hasPasscode && items(keychain) == 2)
            #expect(keychain.accounts() == ["plain"], "the other one asks for its password")
        }
        let keychain = try prepared(.daemon)
        let json = keychain.latchkey("passcode remove -y --json", io: TestIO(input: [Self.passcode]))
        #expect(json.output == "{\n  \"items\" : 2,\n  \"removed\" : true\n}\n" && json.exit == 0)
    }

    @Test(
        "Every command asks for the passcode with the same words; unlock-keychain has those of macOS",
        arguments: [
            "unlock", "passcode change", "passcode remove --yes", "recovery-key create", "recovery-key remove",
            "settings --grace 5", "backup /dev/null/none", "restore /dev/null/none", "unlock-keychain",
        ])
    func prompt(line: String) throws {
        let keychain = try prepared(.daemon)
        let prompt = line == "unlock-keychain" ? "password to unlock the keychain: " : "passcode of the keychain: "
        // The person presses Ctrl-D.
        let outcome = keychain.latchkey(line, io: TestIO(answers: []))
        #expect(outcome.exit == 128 && outcome.error.hasPrefix(prompt), "\(outcome)")
    }

    @Test("If nothing needs the passcode, it is removed without a question; a wrong passcode removes nothing")
    func withoutItems() throws {
        let keychain = try TestKeychain(.daemon)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: Self.passcode.utf8)) { _, _ in }
        #expect(keychain.latchkey("passcode remove", io: TestIO(input: ["wrong"])).exit != 0)
        #expect(try keychain.service.administrator.status().hasPasscode)
        #expect(keychain.latchkey("passcode remove", io: TestIO(input: [Self.passcode])).exit == 0)
        #expect(try !keychain.service.administrator.status().hasPasscode)
        #expect(keychain.latchkey("passcode remove --dry-run").error.contains("no passcode is set"))
    }
}
