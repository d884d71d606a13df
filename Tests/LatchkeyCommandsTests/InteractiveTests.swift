// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// `security -i` (keychain-behaviour §8.1).
@Suite("Interactive mode")
struct InteractiveTests {
    @Test("a line is split into words by macOS's rules", arguments: Line.all)
    func splits(line: Line) {
        #expect(Array(line.text.utf8).withUnsafeBytes { LineTokenizer.split($0) }.map(\.text) == line.words)
    }

    @Test("the commands on standard input run one after the other")
    func runs() throws {
        let keychain = try TestKeychain(.ephemeral)
        let io = TestIO(input: [
            "add-generic-password -a \"a b\" -s 'the service' -w sec\\\"ret", "", "   ", "find-g -s 'the service' -w",
        ])
        #expect(keychain.security("-i", io: io) == Outcome(exit: 0, output: "sec\"ret\n", error: ""))
        #expect(keychain.accounts() == ["a b"])
    }

    @Test("a failed command prints its status, the next one runs, and the last one sets the exit value")
    func failures() throws {
        let keychain = try TestKeychain(.ephemeral)
        let missing = """
            security: SecKeychainSearchCopyNext: a matching item could not be found
            hint: security dump-keychain lists the items
            find-gen: returned -25300

            """
        let first = keychain.security(
            "-i", io: TestIO(input: ["find-gen -a x", "add-generic-password -a x -s y -w z"]))
        #expect(first == Outcome(exit: 0, output: "", error: missing))
        let last = keychain.security("-i", io: TestIO(input: ["find-generic-password -a x -w", "find-gen -a q"]))
        #expect(last == Outcome(exit: 44, output: "z\n", error: missing))
        #expect(keychain.security("-i", io: TestIO(input: ["bogus"])).error.hasSuffix("bogus: returned 1\n"))
        #expect(keychain.security("-i").exit == 0)
    }

    @Test("the prompt is printed on standard error, only at a terminal, and -p changes it")
    func prompt() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(
            keychain.security("-i", io: TestIO(input: ["error 0"], answers: [])).error
                == "security> error: returned 1\nsecurity> ")
        #expect(keychain.security("-p $", io: TestIO(input: [], answers: [])).error == "$")
        #expect(keychain.security("-p $").error == "")
    }

    @Test("-w as the last word reads the next two lines, as programs written for macOS send them")
    func passwordLines() throws {
        let keychain = try TestKeychain(.ephemeral)
        let io = TestIO(input: [
            "add-generic-password -a x -s y -w", "the password", "the password", "find-generic-password -w",
        ])
        #expect(keychain.security("-i", io: io) == Outcome(exit: 0, output: "the password\n", error: ""))
        let different = TestIO(input: ["add-generic-password -a x2 -s y -w", "one", "two"])
        #expect(
            keychain.security("-i", io: different)
                == Outcome(exit: 1, output: "", error: "passwords don't match\nadd-generic-password: returned 1\n"))
    }

    @Test("commands and a secret cannot both be read from standard input")
    func secretFileOfCommands() throws {
        let keychain = try TestKeychain(.ephemeral)
        let outcome = keychain.security(
            "-i", io: TestIO(input: ["add-generic-password -a x -s y --secret-file -", "error 0"]))
        #expect(outcome.error.contains("cannot both be read from standard input") && keychain.accounts().isEmpty)
        #expect(outcome.output.contains("Error: 0x00000000"))
    }

    @Test("-q suppresses the status of a failed command")
    func quiet() throws {
        let keychain = try TestKeychain(.ephemeral)
        let outcome = keychain.security("-qi", io: TestIO(input: ["create-db"]))
        #expect(outcome.error == "security: create-db is not supported by this version\n")
    }

    struct Line: Sendable, CustomTestStringConvertible {
        let text: String
        let words: [String]

        init(_ text: String, _ words: [String]) {
            self.text = text
            self.words = words
        }

        var testDescription: String { text }

        static let all = [
            Line("", []),
            Line("   \t ", []),
            Line("a b", ["a", "b"]),
            Line("  a\tb\r", ["a", "b"]),
            Line("'a b' \"c d\"", ["a b", "c d"]),
            Line("\"a'b\" 'c\"d'", ["a'b", "c\"d"]),
            Line("''", [""]),
            Line("a '' b", ["a", "", "b"]),
            Line("'a'b", ["a", "b"]),
            Line("'a''b'", ["a", "b"]),
            Line("a'b c'd", ["a'b", "c'd"]),
            Line("it's", ["it's"]),
            Line("a\\ b", ["a b"]),
            Line("\\'a b\\'", ["'a", "b'"]),
            Line("\"a\\\"b\"", ["a\"b"]),
            Line("'a\\'b'", ["a'b"]),
            Line("a\\\\b", ["a\\b"]),
            Line("\\ ", [" "]),
            Line("a\\", ["a"]),
            Line("'open end", ["open end"]),
            Line("# no comment", ["#", "no", "comment"]),
            Line("$HOME *", ["$HOME", "*"]),
            Line("ä 'ö ü'", ["ä", "ö ü"]),
        ]
    }
}
