// SPDX-License-Identifier: Apache-2.0

@testable import LatchkeyCommands
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
    }

    private static let options = [
        CommandOption("-l", help: ""), CommandOption("-u", help: ""),
        CommandOption("-t", .required("seconds"), help: ""),
        CommandOption("-w", .optional("password"), help: ""), CommandOption("--group", .required("group"), help: ""),
        CommandOption("--flag", help: ""),
    ]
}
