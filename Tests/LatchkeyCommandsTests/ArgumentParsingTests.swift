// SPDX-License-Identifier: Apache-2.0

@testable import LatchkeyCommands
import LinuxSystem
import Testing

/// The getopt rules that scripts rely on (keychain-behaviour §8.1, §8.7).
@Suite("Arguments")
struct ArgumentParsingTests {
    @Test("words are split into options and operands as getopt does", arguments: Row.all)
    func parses(row: Row) throws {
        let parsed = try ParsedArguments(
            row.words.split(separator: " ").map { CommandWord(String($0)) }[...], options: Self.options)
        let options = parsed.occurrences.map { $0.option.name + ($0.value.map { "=\($0.text)" } ?? "") }
        #expect(options == row.options)
        #expect(parsed.operands.map(\.text) == row.operands)
    }

    @Test(
        "an unknown option is a usage error",
        arguments: ["-z", "-lz", "-t", "-lut", "--group", "--nothing", "--flag=value", "-x --", "--="])
    func refuses(words: String) {
        #expect(throws: CommandFailure.self) {
            try ParsedArguments(words.split(separator: " ").map { CommandWord(String($0)) }[...], options: Self.options)
        }
    }

    @Test("an empty word is a value or an operand, never an option")
    func emptyWords() throws {
        let parsed = try ParsedArguments(["-t", "", ""], options: Self.options)
        #expect(parsed["-t"] == "")
        #expect(parsed.operands == [""])
    }

    @Test("a word that is not UTF-8 is unchanged")
    func bytes() throws {
        let parsed = try ParsedArguments([CommandWord(bytes: [0x2D, 0x74, 0xFF, 0x00])], options: Self.options)
        #expect(parsed["-t"]?.bytes == [0xFF, 0x00])
    }

    @Test("a missing required option is a usage error")
    func required() {
        let options = [CommandOption("-a", .required("account"), isRequired: true, help: "")]
        #expect(throws: CommandFailure.self) { try ParsedArguments([], options: options) }
        #expect(throws: Never.self) { try ParsedArguments(["-a", "x"], options: options) }
    }

    @Test(
        "the rules of latchkey: options may follow operands, and a value begins with no hyphen", arguments: Row.latchkey
    )
    func parsesLatchkey(row: Row) throws {
        let parsed = try Self.latchkey(row.words)
        let options = parsed.occurrences.map { $0.option.name + ($0.value.map { "=\($0.text)" } ?? "") }
        #expect(options == row.options)
        #expect(parsed.operands.map(\.text) == row.operands)
    }

    @Test(
        "with these rules, an error names the option, and a similar one",
        arguments: [
            ("-z", "unknown option -z"), ("--flga", "unknown option --flga; did you mean --flag?"),
            ("--gr x", "unknown option --gr; did you mean --group?"),
            ("file ---flag", "unknown option ---flag; did you mean --flag?"), ("-uz", "unknown option -z"),
            ("--flag=value", "--flag takes no value"), ("--group", "--group must be followed by its value (group)"),
            ("--group -u", "--group must be followed by its value (group)"),
            ("-ut --", "-t must be followed by its value (seconds)"),
        ])
    func refusesLatchkey(words: String, problem: String) {
        let error = #expect(throws: CommandFailure.self) { try Self.latchkey(words) }
        #expect(error?.lines(for: .latchkey, command: "").map(\.string) == ["latchkey: \(problem)"])
    }

    @Test("an unknown word is not named where it can be a secret")
    func secretWords() {
        for words in ["-z", "--s3cret", "--s3cret=x", "a -us3cret"] {
            let error = #expect(throws: CommandFailure.self) { try Self.latchkey(words, refusal: "no secrets") }
            #expect(error?.lines(for: .latchkey, command: "").map(\.string) == ["latchkey: no secrets"])
        }
    }

    private static func latchkey(_ words: String, refusal: String? = nil) throws -> ParsedArguments {
        try ParsedArguments(
            words.split(separator: " ").map { CommandWord(String($0)) }[...], options: options,
            rules: .latchkey(refusal: refusal))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: String
        let options: [String]
        let operands: [String]

        init(_ words: String, _ options: [String], _ operands: [String] = []) {
            self.words = words
            self.options = options
            self.operands = operands
        }

        var testDescription: String { words }

        static let all = [
            Row("", []),
            Row("-l", ["-l"]),
            Row("-lut 21600", ["-l", "-u", "-t=21600"]),
            Row("-lut 21600 login.keychain", ["-l", "-u", "-t=21600"], ["login.keychain"]),
            Row("-lt21600 -u", ["-l", "-t=21600", "-u"]),
            Row("-ul LABEL", ["-u", "-l"], ["LABEL"]),
            Row("-t -l", ["-t=-l"]),
            Row("-t --", ["-t=--"]),
            Row("-w", ["-w"]),
            Row("-w secret", ["-w=secret"]),
            Row("-wsecret", ["-w=secret"]),
            Row("-w -u", ["-w=-u"]),
            Row("-uw", ["-u", "-w"]),
            Row("-uw secret more", ["-u", "-w=secret"], ["more"]),
            Row("file -l", [], ["file", "-l"]),
            Row("-l file -u", ["-l"], ["file", "-u"]),
            Row("-l -- -u", ["-l"], ["-u"]),
            Row("-- --", [], ["--"]),
            Row("-", [], ["-"]),
            Row("-l - -u", ["-l"], ["-", "-u"]),
            Row("-t a -t b", ["-t=a", "-t=b"]),
            Row("--group G -l", ["--group=G", "-l"]),
            Row("--group=G=H -l", ["--group=G=H", "-l"]),
            Row("--group= x", ["--group="], ["x"]),
            Row("--group -l", ["--group=-l"]),
            Row("--flag x", ["--flag"], ["x"]),
        ]

        static let latchkey = [
            Row("file -l", ["-l"], ["file"]), Row("a -l b --flag c", ["-l", "--flag"], ["a", "b", "c"]),
            Row("a --group G -t 5", ["--group=G", "-t=5"], ["a"]), Row("--group=-l", ["--group=-l"]),
            Row("--other G a", ["--group=G"], ["a"]), Row("-lut 5 a", ["-l", "-u", "-t=5"], ["a"]),
            Row("-t5 -t=6 -t=", ["-t=5", "-t=6", "-t="]), Row("--group - -", ["--group=-"], ["-"]),
            Row("a -l -- -u b", ["-l"], ["a", "-u", "b"]), Row("-- --", [], ["--"]),
            Row("--group a --group b", ["--group=a", "--group=b"]),
        ]
    }

    private static let options = [
        CommandOption("-l", help: ""), CommandOption("-u", help: ""),
        CommandOption("-t", .required("seconds"), help: ""),
        CommandOption("-w", .optional("password"), help: ""),
        CommandOption("--group", or: "--other", value: .required("group"), help: ""),
        CommandOption("--flag", help: ""),
    ]
}
