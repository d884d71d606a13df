// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyCommands
import Testing

/// The command lines of the daily commands.
@Suite("Usage of daily commands")
struct DailyUsageTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    @Test(
        "a command line that is not valid is refused in one line with the help of the command as a hint",
        arguments: [
            ("get a/b --revael", "unknown option --revael; did you mean --reveal?"),
            ("get a/b c", "unexpected argument 'c'"),
            ("get a/b --label", "--label must be followed by its value (label)"),
            ("rm a/b --label --all", "--label must be followed by its value (label)"),
            ("get a/b --reveal=yes", "--reveal takes no value"),
            ("get a/b --port x", "--port must be 0 to 65535, but is 'x'"),
            ("get a/b --class other", "--class must be generic or internet, but is 'other'"),
            ("copy a/b --using x", "--using must be wl-copy, xclip, xsel or osc52, but is 'x'"),
            ("list --limit 0", "--limit must be 1 or more, but is '0'"),
            ("list --offset=-1", "--offset must be 0 or more, but is '-1'"),
            ("copy a/b --timeout 86401", "--timeout must be 0 to 86400 seconds, but is '86401'"),
            ("generate a/b -l 0", "--length must be 1 to 1024, but is '0'"),
            ("generate a/b --symbols --alphabet abc", "--symbols and --alphabet exclude each other"),
            ("get a/b --json --attribute name", "--attribute excludes --json and --reveal"),
            ("get a/b --passcode-fd x", "--passcode-fd must be 0 or more, but is 'x'"),
            ("get a/b --passcode-fd 3 --passcode-file f", "--passcode-file and --passcode-fd exclude each other"),
            ("rm a/b --no-prompt --prompt x", "--no-prompt and --prompt exclude each other"),
        ])
    func usage(line: String, problem: String) {
        let name = line.prefix { $0 != " " }
        let expected = "latchkey: \(problem)\nhint: latchkey \(name) --help\n"
        #expect(keychain.latchkey(line) == Outcome(exit: 2, output: "", error: expected))
        let terminal = keychain.latchkey("-v \(line)", io: TestIO(isErrorInteractive: true))
        #expect(
            terminal.error.hasPrefix("latchkey: \(problem) [LK1001]\nhint: latchkey \(name) --help\n"), "\(terminal)")
        #expect(terminal.error.hasSuffix("latchkey: the command line is not valid [LK1001]\n"), "\(terminal)")
    }

    @Test("--help, -h and --version are answered wherever they are, but not after --")
    func information() {
        let help = keychain.latchkey("help get")
        for line in [
            "get --help", "get -h", "get a/b --reveal -h", "get --nonsense --help", "get a b --help",
            "get a --label --help",
        ] {
            #expect(keychain.latchkey(line) == help, "\(line)")
        }
        #expect(help.output.hasPrefix("OVERVIEW: Print a secret") && help.exit == 0 && help.error.isEmpty)
        keychain.latchkey("set a/b", io: TestIO(input: ["kept"]))
        #expect(keychain.latchkey("rm -fh a/b").output.hasPrefix("OVERVIEW: Delete items."))
        #expect(keychain.latchkey("get a/b").output == "kept")
        #expect(keychain.latchkey("rm a/b --version").output == "\(LatchkeyVersion.current)\n")
        #expect(keychain.latchkey("get -- -h").error.hasPrefix("latchkey: the item '%2Dh' could not be found\n"))
    }

    @Test("options may follow the name, the last of equal options counts, and a value may be attached")
    func order() {
        keychain.latchkey("set example.com/alice --label one --label=two", io: TestIO(input: ["s3cret"]))
        for line in ["get example.com/alice --label two", "get --label=two example.com/alice --label=two --reveal"] {
            #expect(keychain.latchkey(line).output == "s3cret", "\(line)")
        }
        #expect(keychain.latchkey("get example.com/alice --label two --label one").exit == 44)
        #expect(keychain.latchkey("generate -fl=30 example.com/alice").error.contains("(30 characters"))
        #expect(keychain.latchkey("generate example.com/alice -f -l 31").error.contains("(31 characters"))
        let hyphen = keychain.latchkey("generate --alphabet=-x --length 5 --reveal a/hyphen")
        #expect(hyphen.output.count == 5 && hyphen.output.allSatisfy { "-x".contains($0) }, "\(hyphen)")
    }

    @Test("text that is not UTF-8 is refused and shown escaped")
    func bytes() {
        for words in [[CommandWord(bytes: [0x61, 0xE9])], ["a/b", "--label", CommandWord(bytes: [0x61, 0xE9])]] {
            let outcome = keychain.security(["get"] + words, as: "latchkey")
            let problem = #"latchkey: 'a\xe9' is not UTF-8, and the command takes only text there"#
            #expect(outcome == Outcome(exit: 2, output: "", error: "\(problem)\nhint: latchkey get --help\n"))
        }
    }
}
