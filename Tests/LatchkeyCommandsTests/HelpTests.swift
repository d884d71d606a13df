// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainTesting
@testable import LatchkeyCommands
import LinuxSystem
import Testing

/// The help texts. Golden files contain the wording.
@Suite("Help")
struct HelpTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    @Test("the general usage lists the commands")
    func general() throws {
        let usage = keychain.security("")
        #expect(usage.exit == 2)
        try expectGolden(usage.output, "usage")
        #expect(keychain.security("help") == Outcome(exit: 0, output: usage.output, error: ""))
        #expect(keychain.security("-h").output == usage.output)
        #expect(keychain.security("-z").error.hasSuffix(usage.output))
    }

    @Test("as latchkey, the general usage fits a screen of 24 lines and 80 columns, with every command of its own")
    func screen() throws {
        let usage = keychain.latchkey("")
        #expect(usage.exit == 2 && usage.error.isEmpty)
        try expectGolden(usage.output, "help-general")
        for line in ["--help", "-h", "help"] {
            #expect(keychain.latchkey(line) == Outcome(exit: 0, output: usage.output, error: ""), "\(line)")
        }
        let lines = usage.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count < 24 && lines.allSatisfy { $0.count <= 80 }, "\(lines.count) lines")
        let words = Set(usage.output.split { !$0.isLetter && $0 != "-" }.map(String.init))
        for command in LatchkeySubcommand.allCases { #expect(words.contains(command.rawValue), "\(command)") }
        for family in CommandFamily.allCases where family != .daily { #expect(words.contains(family.rawValue)) }
    }

    @Test("latchkey help lists the commands of a family; macOS's are those of security help")
    func families() {
        for family in CommandFamily.allCases {
            let help = keychain.latchkey("help \(family.rawValue)")
            #expect(help.exit == 0 && help.error.isEmpty)
            for command in family.members { #expect(help.output.contains("  \(command.rawValue) ")) }
            #expect(keychain.latchkey("--help \(family.rawValue)") == help)
            #expect(keychain.security("help \(family.rawValue)").exit == 1)
        }
        let macOS = keychain.latchkey("help macos").output
        #expect(macOS.hasPrefix("usage: latchkey [-hilqv] "))
        for name in Self.implemented { #expect(macOS.contains("\n    \(name) ")) }
        for command in LatchkeySubcommand.allCases { #expect(!macOS.contains("\n    \(command.rawValue) ")) }
    }

    @Test("import, with Latchkey's additions, is in the help of latchkey and of a family")
    func extended() {
        let row = "  import         Import the keys and certificates of a file, or another keyring.\n"
        #expect(keychain.latchkey("help keychain").output.contains(row))
        #expect(keychain.latchkey("--help").output.contains(", import\n"))
        #expect(keychain.latchkey("help import").output.contains("    --from keyring "))
    }

    @Test("latchkey help shows the sub-command of a command")
    func nested() {
        let help = keychain.latchkey("help recovery-key use")
        #expect(help.exit == 0 && help.output.contains("--key-file") && help.error.isEmpty, "\(help)")
        #expect(help.output == keychain.latchkey("recovery-key use --help").output)
        let both = keychain.latchkey("help recovery-key use set")
        #expect(both.output == help.output + keychain.latchkey("help set").output)
        #expect(keychain.latchkey("help recovery-key banana").exit == 1)
    }

    private static let implemented = CommandTable.entries.compactMap { entry in
        if case .implemented = entry.support { entry.name } else { nil }
    }

    @Test("each command has a usage text", arguments: implemented)
    func command(name: String) throws {
        let help = keychain.security("help \(name)")
        #expect(help.exit == 0 && help.error.isEmpty)
        try expectGolden(help.output, "help-\(name)")
        #expect(keychain.security("\(name) --help") == help)
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("an unknown option is named, and the usage follows")
    func badOption() throws {
        try expectGolden(keychain.security("default-keychain -z").description, "bad-option")
    }

    @Test("help accepts several commands and abbreviations, and continues after an unknown one")
    func several() {
        let outcome = keychain.security("help find-g bogus er install-mds leaks")
        #expect(outcome.exit == 1)
        #expect(outcome.error == "security: unknown command \"bogus\"\n")
        #expect(
            outcome.output.contains("usage: security find-generic-password")
                && outcome.output.contains("usage: security error"))
        #expect(
            outcome.output.hasSuffix(
                "install-mds is not supported by this version.\nleaks is not supported on this system.\n"))
    }

    @Test("each of Latchkey's commands has a help text", arguments: LatchkeySubcommand.allCases)
    func own(command: LatchkeySubcommand) throws {
        let help = keychain.latchkey("\(command.rawValue) --help")
        #expect(help.exit == 0 && help.error.isEmpty)
        try expectGolden(help.output, "help-\(command.rawValue)")
        #expect(keychain.latchkey("help \(command.rawValue)").output.contains("EXAMPLES:"))
        // As security, macOS's abbreviations take precedence, and there are no daily commands.
        if command.isDaily, CommandTable.entry(abbreviated: CommandWord(command.rawValue)) == nil {
            #expect(keychain.security("help \(command.rawValue)").exit == 1)
            return
        }
        let expected =
            switch CommandTable.entry(abbreviated: CommandWord(command.rawValue))?.support {
            case .implemented: "examples:"
            case .planned, .unsupported: "is not supported"
            case nil: "EXAMPLES:"
            }
        #expect(keychain.security("help \(command.rawValue)").output.contains(expected))
    }

    @Test("the lists for completions contain the implemented commands of the table, and the daily ones")
    func listed() {
        func names(_ list: [any ParsableCommand.Type]) -> [String?] {
            list.map { ($0 as? any ListedCommand.Type)?.definition.name }
        }
        #expect(names(ListedCommands.macOS) == Self.implemented)
        #expect(names(ListedCommands.daily) == LatchkeySubcommand.allCases.filter(\.isDaily).map(\.rawValue))
    }

    @Test("the help of a daily command fits the terminal", arguments: LatchkeySubcommand.allCases.filter(\.isDaily))
    func narrow(command: LatchkeySubcommand) throws {
        let definition = try #require(command.definition)
        let usual = definition.help(columns: nil).string
        #expect(usual == definition.help(columns: 80).string)
        for columns in [60, 80, 200] {
            let lines = definition.help(columns: columns).string.split(separator: "\n")
            let examples = definition.examples.map { "  \($0)" }
            #expect(lines.allSatisfy { $0.count <= columns || examples.contains(String($0)) }, "\(columns)")
        }
        let words = usual.split(whereSeparator: \.isWhitespace)
        #expect(definition.help(columns: 200).string.split(whereSeparator: \.isWhitespace) == words)
        // A width without room for the words is not one.
        #expect(definition.help(columns: 1).string == definition.help(columns: 46).string)
    }

    @Test("completion scripts exist for bash, zsh and fish", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) {
        let outcome = keychain.latchkey("--generate-completion-script \(shell)")
        #expect(outcome.exit == 0)
        #expect(outcome.output.contains("find-generic-password") && outcome.output.contains("doctor"))
    }
}
