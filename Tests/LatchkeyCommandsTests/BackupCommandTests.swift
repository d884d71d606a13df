// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Testing

/// `latchkey backup` and `latchkey restore`.
@Suite("Backup commands")
struct BackupCommandTests {
    private let keychain: TestKeychain
    private let directory: TemporaryDirectory
    private var backup: String { "\(directory.path)/backup" }
    private var phrase: String { "--passphrase-file \(directory.path)/phrase" }

    /// A backup of the account `saved`, and a keychain with the account `later` alone.
    init() throws {
        keychain = try TestKeychain(.ephemeral)
        directory = try TemporaryDirectory()
        for (name, text) in [("phrase", "a phrase of mine\n"), ("wrong", "another phrase\n")] {
            try Data(text.utf8).write(to: URL(filePath: "\(directory.path)/\(name)"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(directory.path)/\(name)")
        }
        keychain.security("add-generic-password -a saved -s s -w x")
        #expect(keychain.latchkey("backup \(backup) \(phrase)").exit == 0)
        keychain.security("delete-generic-password -a saved")
        keychain.security("add-generic-password -a later -s s -w y")
    }

    @Test("restore keeps existing items unless --replace is given", arguments: ["", "--merge"])
    func merges(option: String) {
        let outcome = keychain.latchkey("restore \(backup) \(option) \(phrase)")
        #expect(outcome == Outcome(exit: 0, output: "added:     1\n", error: ""))
        #expect(Set(keychain.accounts()) == ["later", "saved"])
    }

    @Test("restore, and its dry run, call an item equal that the keychain has already")
    func equal() {
        #expect(keychain.latchkey("restore \(backup) \(phrase)").output == "added:     1\n")
        let unchanged = "added:     0\nequal:     1, already in the keychain\n"
        #expect(keychain.latchkey("restore \(backup) \(phrase)") == Outcome(exit: 0, output: unchanged, error: ""))
        let dryRun = keychain.latchkey("restore --dry-run \(backup) \(phrase)")
        #expect(dryRun.output == "Nothing was changed. A restore would do this:\n\(unchanged)", "\(dryRun)")
        #expect(keychain.latchkey("restore --json \(backup) \(phrase)").output.contains("\"equal\" : 1,"))
    }

    @Test(
        "restore --replace shows the items to delete on a terminal, and deletes after yes or y, in any case",
        arguments: ["yes", "y", "Y", "YES", "Yes", " yes "])
    func replaces(answer: String) {
        let outcome = keychain.latchkey(
            "restore --replace \(backup) \(phrase)", io: TestIO(input: [answer], answers: []))
        let question =
            "latchkey: 1 item of the keychain will be deleted, and 1 of the backup added. Continue? (yes/no) "
        #expect(outcome == Outcome(exit: 0, output: "added:     1\ndeleted:   1 that existed\n", error: question))
        #expect(keychain.accounts() == ["saved"])
    }

    @Test(
        "any other answer changes nothing",
        arguments: [[], [""], ["no"], ["n"], ["No"], ["yess"], ["y e s"], ["yes yes"], ["ja"], ["ｙ"]] as [[String]])
    func refused(answer: [String]) {
        let outcome = keychain.latchkey("restore --replace \(backup) \(phrase)", io: TestIO(input: answer, answers: []))
        #expect(outcome.exit == 128 && outcome.output.isEmpty && outcome.error.contains("nothing was changed"))
        #expect(keychain.accounts() == ["later"])
    }

    @Test("without a terminal, --replace requires --yes, and the hint names it")
    func withoutTerminal() {
        let refusal = keychain.latchkey("restore --replace \(backup) \(phrase)")
        #expect(refusal.exit == 206 && refusal.output.isEmpty)
        #expect(
            refusal.error.contains("--replace deletes 1 item of the keychain")
                && refusal.error.contains("hint: --dry-run"))
        #expect(keychain.accounts() == ["later"])
        #expect(keychain.latchkey("restore --replace -y \(backup) \(phrase)").exit == 0)
        #expect(keychain.accounts() == ["saved"])
    }

    @Test("a dry run asks nothing and changes nothing; a backup that cannot be restored fails before the question")
    func dryRun() {
        let outcome = keychain.latchkey("restore --replace --dry-run \(backup) \(phrase)", io: TestIO(answers: []))
        #expect(outcome.exit == 0 && outcome.error.isEmpty)
        #expect(
            outcome.output
                == "Nothing was changed. A restore would do this:\nadded:     1\ndeleted:   1 that existed\n")
        let wrong = keychain.latchkey(
            "restore --replace \(backup) --passphrase-file \(directory.path)/wrong",
            io: TestIO(input: ["yes"], answers: []))
        #expect(wrong.exit == 51 && !wrong.error.contains("Continue?"))
        #expect(keychain.latchkey("restore --replace --merge \(backup) \(phrase)").exit == 2)
        #expect(keychain.accounts() == ["later"])
    }

    @Test("backup - writes only the backup to standard output, and its report to standard error")
    func standardOutput() throws {
        for (words, report) in [("", "saved:        1"), (" --json", "\"items\" : 1")] {
            let io = TestIO()
            let outcome = keychain.latchkey("backup - \(phrase)\(words)", io: io)
            #expect(outcome.exit == 0 && outcome.error.contains(report))
            try Data(io.output).write(to: URL(filePath: "\(directory.path)/copy\(words.count)"))
            let restored = try TestKeychain(.ephemeral)
            #expect(restored.latchkey("restore \(directory.path)/copy\(words.count) \(phrase)").exit == 0)
            #expect(restored.accounts() == ["later"])
        }
        #expect(!FileManager.default.fileExists(atPath: "-"))
        let terminal = keychain.latchkey("backup - \(phrase)", io: TestIO(isErrorInteractive: true))
        #expect(
            terminal.exit == 206 && terminal.output.isEmpty && terminal.error.contains("hint: latchkey backup - > FILE")
        )
        let full = keychain.latchkey("backup - \(phrase)", io: TestIO(outputFails: true))
        #expect(full.exit == 220 && full.error.contains("No space left on device"))
    }

    @Test("a backup is piped from one keychain to another, with its passphrase before it or in a file", .long)
    func pipe() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            printf 'a phrase of mine\\n' > "$PASS"; chmod 600 "$PASS"; other="$LATCHKEY_HOME.other"
            security add-generic-password -a a -s s -w v
            latchkey backup - --passphrase-file "$PASS" 2> /dev/null \
                | LATCHKEY_HOME="$other" latchkey restore - --passphrase-file "$PASS"
            LATCHKEY_HOME="$other" security find-generic-password -a a -w
            { cat "$PASS"; latchkey backup - --passphrase-file "$PASS" 2> /dev/null; } | LATCHKEY_HOME="$other" latchkey restore --replace -y -
            LATCHKEY_HOME="$other" security find-generic-password -a a -w
            latchkey restore --replace - < /dev/null; echo $?
            """)
        #expect(outcome.output == "added:     1\nv\nadded:     1\ndeleted:   1 that existed\nv\n2\n", "\(outcome)")
    }

    @Test("an existing file is not replaced, and the hint names the option that replaces it")
    func existing() {
        #expect(keychain.latchkey("backup \(backup) \(phrase)").error.hasSuffix("\nhint: --force replaces it\n"))
        #expect(keychain.latchkey("backup --force \(backup) \(phrase)").exit == 0)
    }

    @Test("--replace asks nothing if nothing would be deleted")
    func emptyKeychain() {
        keychain.security("delete-generic-password -a later")
        #expect(keychain.latchkey("restore --replace \(backup) \(phrase)").exit == 0)
        #expect(keychain.accounts() == ["saved"])
    }
}
