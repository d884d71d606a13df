// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyCommands
import Testing

/// `add-generic-password` and `add-internet-password` (keychain-behaviour §8.2).
@Suite("Adding passwords")
struct AddingTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    @Test("an added item is found, and nothing is printed")
    func main() {
        #expect(
            keychain.security("add-generic-password -a alice -s example.com -w s3cret -U")
                == Outcome(exit: 0, output: "", error: ""))
        #expect(
            keychain.security("find-generic-password -a alice -s example.com -w")
                == Outcome(exit: 0, output: "s3cret\n", error: ""))
    }

    @Test("without -U, an item with the same account and service is a duplicate and changes nothing")
    func duplicate() {
        keychain.security("add-generic-password -a alice -s example.com -w one")
        let outcome = keychain.security("add-generic-password -a alice -s example.com -w two")
        let text = """
            security: SecKeychainItemCreateFromContent (<default>): an item with the same key attributes already exists
            hint: -U updates an existing item

            """
        #expect(outcome == Outcome(exit: 45, output: "", error: text))
        let named = keychain.security("add-generic-password -a alice -s example.com -w two login.keychain")
        #expect(named.error == text.replacing("<default>", with: "login.keychain"))
        #expect(password() == "one")
    }

    @Test("account and service, or server, are required", arguments: ["", "-a alice", "-s example.com", "-w s3cret"])
    func required(words: String) {
        for command in ["add-generic-password", "add-internet-password"] {
            let outcome = keychain.security("\(command) \(words)")
            #expect(outcome.exit == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains("usage: security \(command) "))
        }
    }

    // MARK: Passwords

    @Test(
        "a password is text, given with -w or -p, or hexadecimal, and the last one wins",
        arguments: [
            ("-w s3cret", "s3cret"), ("-ws3cret", "s3cret"), ("-p s3cret", "s3cret"),
            ("-X 7333637265740a", "7333637265740a"),
            ("-X 0x733363", "s3c"), ("-X 733363 -w later", "later"), ("-w earlier -X 733363", "s3c"), ("", ""),
            ("-w -U", "-U"),
        ])
    func passwords(words: String, printed: String) {
        #expect(keychain.security("add-generic-password -a a -s s \(words)").exit == 0)
        #expect(password() == printed)
    }

    @Test("an empty word is an empty password")
    func emptyPassword() {
        #expect(keychain.security(["add-generic-password", "-a", "a", "-s", "s", "-w", ""]).exit == 0)
        #expect(password() == "")
    }

    @Test("a password that is not UTF-8 is stored byte for byte")
    func binaryPassword() {
        keychain.security(["add-generic-password", "-a", "a", "-s", "s", "-w", CommandWord(bytes: [0xFF, 0x61, 0xC3])])
        #expect(password() == "ff61c3")
    }

    @Test(
        "invalid hexadecimal is rejected with 206, and nothing is stored", arguments: ["abc", "zz", "0x0", "12 34"])
    func badHexadecimal(digits: String) {
        let outcome = keychain.security(["add-generic-password", "-a", "a", "-s", "s", "-X", CommandWord(digits)])
        #expect(outcome.exit == 206)
        #expect(outcome.error.contains("-X must be hexadecimal"))
        #expect(keychain.accounts().isEmpty)
    }

    @Test("-w as the last word prompts twice on the terminal")
    func asks() {
        let outcome = keychain.security("add-generic-password -a a -s s -w", io: TestIO(answers: ["pw 1", "pw 1"]))
        #expect(
            outcome
                == Outcome(exit: 0, output: "", error: "password data for new item: \nretype password for new item: \n")
        )
        #expect(password() == "pw 1")
    }

    @Test("two different answers are rejected with 1")
    func mismatch() {
        let outcome = keychain.security("add-generic-password -a a -s s -w", io: TestIO(answers: ["one", "two"]))
        #expect(outcome.exit == 1)
        #expect(outcome.error.hasSuffix("retype password for new item: \npasswords don't match\n"))
        #expect(keychain.accounts().isEmpty)
    }

    @Test("the end of input at the prompt cancels with 128")
    func cancelled() {
        #expect(keychain.security("add-generic-password -a a -s s -w", io: TestIO(answers: [nil])).exit == 128)
        #expect(keychain.security("add-generic-password -a a -s s -w", io: TestIO(answers: ["one", nil])).exit == 128)
        #expect(keychain.accounts().isEmpty)
    }

    @Test(
        "without a terminal, -w as the last word and --secret-file - read all of standard input except one line end",
        arguments: [
            (["line"], "\"line\""), (["line", ""], "\"line\""), (["", ""], ""),
            (["line", "", "", ""], "0x6C696E650A0A  \"line\\012\\012\""),
            (["a", "a", "a"], "0x610A610A61  \"a\\012a\\012a\""),
            (["", "a", "b", ""], "0x0A610A62  \"\\012a\\012b\""),
        ])
    func readsInput(input: [String], printed: String) {
        for option in ["-w", "--secret-file -", "--secret-file=-"] {
            let outcome = keychain.security("add-generic-password -U -a a -s s \(option)", io: TestIO(input: input))
            #expect(outcome == Outcome(exit: 0, output: "", error: ""))
            #expect(keychain.security("find-generic-password -g").error == "password: \(printed)\n")
        }
    }

    @Test(
        "two equal lines in a pipe are one password, as programs written for macOS send it, and --secret-file - keeps both",
        arguments: [
            (["s3cret", "s3cret", ""], "s3cret", "7333637265740a733363726574"), (["a", "a"], "a", "610a61"),
            (["", "", ""], "", "0a"), (["pw\r", "pw\r", ""], "70770d", "70770d0a70770d"),
        ])
    func readsRepetition(input: [String], password: String, lines: String) {
        for itemClass in ["generic", "internet"] {
            for (option, stored) in [("-w", password), ("--secret-file -", lines)] {
                let add = "add-\(itemClass)-password -U -a a -s s \(option)"
                #expect(keychain.security(add, io: TestIO(input: input)) == Outcome(exit: 0, output: "", error: ""))
                #expect(keychain.security("find-\(itemClass)-password -w").output == "\(stored)\n", "\(option)")
            }
        }
    }

    @Test(
        "two different lines in a pipe are macOS's error for -w and store nothing; --secret-file - keeps them",
        arguments: [
            ["one", "two", ""], ["one", "two"], ["line", "", ""], ["", "line"], ["pw", "pw "], ["pw\r", "pw"],
        ])
    func readsDifferentLines(input: [String]) {
        for command in ["add-generic-password -a a -s s", "add-internet-password -a a -s s"] {
            let outcome = keychain.security("\(command) -w", io: TestIO(input: input))
            #expect(outcome.exit == 1 && outcome.output.isEmpty, "\(outcome)")
            #expect(outcome.error.hasPrefix("passwords don't match\nhint: "), "\(outcome)")
            #expect(outcome.error.hasSuffix("--secret-file - stores both lines\n"), "\(outcome)")
            #expect(keychain.accounts().isEmpty)
        }
        let raw = TestIO(input: input)
        #expect(keychain.security("add-generic-password -a a -s s --secret-file -", io: raw).exit == 0)
        #expect(keychain.accounts() == ["a"])
    }

    @Test("empty input is rejected, and the hint shows how to provide it")
    func noInput() throws {
        try expectGolden(keychain.security("add-generic-password -a a -s s -w").description, "add-without-a-line")
        #expect(keychain.security("add-generic-password -a a -s s --secret-file -").exit == 206)
        #expect(keychain.accounts().isEmpty)
    }

    @Test("--secret-file - prompts twice on a terminal")
    func asksForFile() {
        let outcome = keychain.security(
            "add-generic-password -a a -s s --secret-file -", io: TestIO(answers: ["pw", "pw"]))
        #expect(
            outcome
                == Outcome(exit: 0, output: "", error: "password data for new item: \nretype password for new item: \n")
        )
        #expect(password() == "pw")
    }

    @Test(
        "--secret-file reads a whole file, also for an internet password; the last password option wins")
    func secretFile() throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/secret"
        try Data([0, 1, 0xFF, 0x0A, 0x0D, 0x0A, 0x0A]).write(to: URL(filePath: file))
        for itemClass in ["generic", "internet"] {
            let outcome = keychain.security("add-\(itemClass)-password -a a -s s -w earlier --secret-file \(file)")
            #expect(outcome == Outcome(exit: 0, output: "", error: ""))
            #expect(keychain.security("find-\(itemClass)-password -w").output == "0001ff0a0d0a\n")
        }
        #expect(keychain.security("add-generic-password -U -a a -s s --secret-file \(file) -w later").exit == 0)
        #expect(password() == "later")
    }

    @Test("a secret file that is missing, empty, a directory or endless is rejected, and nothing is stored")
    func badSecretFile() throws {
        let directory = try TemporaryDirectory()
        try Data().write(to: URL(filePath: "\(directory.path)/empty"))
        for (path, exit) in [
            ("\(directory.path)/missing", 220), ("\(directory.path)/empty", 206), (directory.path, 220),
            ("/dev/zero", 42),
        ] as [(String, Int32)] {
            let outcome = keychain.security("add-generic-password -a a -s s --secret-file \(path)")
            #expect(outcome.exit == exit, "\(path): \(outcome)")
            #expect(outcome.output.isEmpty && outcome.error.contains(path))
        }
        #expect(keychain.accounts().isEmpty)
    }

    // MARK: Attributes

    @Test("every attribute of a generic password is stored and searched for")
    func genericAttributes() {
        let attributes: [CommandWord] = [
            "-l", "the label", "-D", "kind", "-j", "comment", "-G", "generic", "-c", "aapl", "-C", "abc",
        ]
        #expect(keychain.security(["add-generic-password", "-a", "a", "-s", "s", "-w", "x"] + attributes).exit == 0)
        for index in stride(from: 0, to: attributes.count, by: 2) {
            let criterion = Array(attributes[index...index + 1])
            #expect(keychain.security(["find-generic-password", "-w"] + criterion).output == "x\n", "\(criterion)")
            #expect(keychain.security(["find-generic-password", "-w", criterion[0], "zz"]).exit == 44, "\(criterion)")
        }
    }

    @Test("every attribute of an internet password is stored and searched for")
    func internetAttributes() {
        let attributes: [CommandWord] = [
            "-d", "realm", "-p", "/path", "-P", "443", "-r", "htps", "-t", "form", "-l", "label", "-D", "kind", "-j",
            "comment", "-c",
            "aapl",
            "-C", "abcd",
        ]
        #expect(keychain.security(["add-internet-password", "-a", "a", "-s", "s", "-w", "x"] + attributes).exit == 0)
        for index in stride(from: 0, to: attributes.count, by: 2) {
            let criterion = Array(attributes[index...index + 1])
            #expect(keychain.security(["find-internet-password", "-w"] + criterion).output == "x\n", "\(criterion)")
            #expect(keychain.security(["find-internet-password", "-w", criterion[0], "99"]).exit == 44, "\(criterion)")
        }
    }

    @Test("a protocol of fewer than four characters is padded with spaces, like Apple's constants")
    func protocolBlanks() {
        keychain.security("add-internet-password -a a -s s -r ssh -w x")
        #expect(keychain.security(["find-internet-password", "-r", "ssh ", "-w"]).output == "x\n")
        #expect(keychain.security("find-internet-password -r ssh -w").output == "x\n")
    }

    @Test(
        "codes that are too long and invalid ports are rejected with 206",
        arguments: [
            "-r https", "-t basic", "-c toolong", "-C toolong", "-P 65536", "-P -1", "-P http", "-P +80", "-P 0x50",
        ])
    func badValues(words: String) {
        for command in ["add-internet-password -a a -s s -w x", "find-internet-password", "delete-internet-password"] {
            let outcome = keychain.security("\(command) \(words)")
            #expect(outcome.exit == 206 && outcome.output.isEmpty)
            #expect(outcome.error.hasPrefix("security: the value of \(words.prefix(2)) must "))
        }
    }

    @Test("-A and -T are accepted, also with an empty program")
    func trustedPrograms() {
        #expect(
            keychain.security([
                "add-generic-password", "-A", "-T", "", "-T", "/usr/bin/x", "-a", "a", "-s", "s", "-w", "x",
            ]).exit == 0)
    }

    // MARK: Replacing

    @Test("-U replaces the password and the given attributes, and keeps the other attributes and the item's identity")
    func replaces() throws {
        keychain.security("add-generic-password -a a -s s -w one -l label -j comment")
        keychain.clock.advance(by: 60)
        #expect(
            keychain.security("add-generic-password -a a -s s -w two -j changed -U")
                == Outcome(exit: 0, output: "", error: ""))
        let block = keychain.security("find-generic-password -a a -g")
        #expect(block.error == "password: \"two\"\n")
        #expect(block.output.contains("<blob>=\"label\"\n") && block.output.contains("\"icmt\"<blob>=\"changed\"\n"))
        #expect(block.output.contains("20261122120000Z") && block.output.contains("20261122120100Z"))
        #expect(keychain.accounts() == ["a"])
    }

    @Test("-U without a password keeps the existing password")
    func keepsPassword() {
        keychain.security("add-generic-password -a a -s s -w one")
        #expect(keychain.security("add-generic-password -a a -s s -l renamed -U").exit == 0)
        #expect(keychain.security("find-generic-password -l renamed -w").output == "one\n")
    }

    @Test("-U adds an item that does not exist, with the service as its label")
    func adds() {
        #expect(keychain.security("add-generic-password -a a -s s -w one -U").exit == 0)
        #expect(keychain.security("find-generic-password -l s -w").output == "one\n")
    }

    @Test("-U on an internet password matches the given key attributes")
    func replacesInternet() {
        keychain.security("add-internet-password -a a -s s -P 443 -r htps -w tls")
        keychain.security("add-internet-password -a a -s s -P 80 -r http -w plain")
        #expect(keychain.security("add-internet-password -a a -s s -P 80 -w changed -U").exit == 0)
        #expect(keychain.security("find-internet-password -P 80 -w").output == "changed\n")
        #expect(keychain.security("find-internet-password -P 443 -w").output == "tls\n")
        #expect(keychain.security("add-internet-password -a a -s s -P 8080 -w new -U").exit == 0)
        #expect(keychain.accounts() == ["a", "a", "a"])
    }

    // MARK: Access groups

    @Test(
        "--access-group selects the group to add to and to search; the defaults are the shared group and all groups")
    func accessGroup() {
        #expect(keychain.security("add-generic-password -a a -s s -w app --access-group com.example.app").exit == 0)
        #expect(keychain.security("add-generic-password -a a -s s -w shared -U").exit == 0)
        #expect(keychain.security("find-generic-password -a a --access-group com.example.app -w").output == "app\n")
        #expect(keychain.security("find-generic-password -a a --access-group=latchkey.shared -w").output == "shared\n")
        #expect(keychain.security("find-generic-password -a a --access-group other -w").exit == 44)
        #expect(keychain.security("add-generic-password -a a -s s -w changed -U").exit == 0)
        #expect(keychain.security("find-generic-password -a a --access-group com.example.app -w").output == "app\n")
        #expect(keychain.security("find-generic-password -a a --access-group latchkey.shared -w").output == "changed\n")
        #expect(keychain.security("find-generic-password -a a -w").output == "changed\n")
        #expect(
            keychain.security("dump-keychain -d --access-group com.example.app").output.hasSuffix("data:\n\"app\"\n"))
        #expect(keychain.security("delete-generic-password -a a --access-group com.example.app").exit == 0)
        #expect(keychain.accounts() == ["a"])
    }

    @Test("a program other than the user's command may not name another program's group")
    func foreignGroup() {
        let io = TestIO()
        let exit = keychain.run(groups: nil, executable: "/usr/bin/other") {
            LatchkeyMain.run(
                ["security", "add-generic-password", "-a", "a", "-s", "s", "--access-group", "com.example.app"], io: io)
        }
        #expect(exit == 30)
        #expect(Outcome(exit: exit, io).error.contains("\nhint: "))
    }

    private func password() -> String {
        String(keychain.security("find-generic-password -w").output.dropLast())
    }
}
