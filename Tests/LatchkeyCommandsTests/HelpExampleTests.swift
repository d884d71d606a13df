// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// The examples of the help texts run when they are copied.
@Suite("Examples of help")
struct HelpExampleTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    @Test(
        "No example of a command, or of its sub-commands, is wrapped at 80 columns",
        arguments: LatchkeySubcommand.allCases)
    func unwrapped(command: LatchkeySubcommand) {
        for (path, help) in helps(of: command.rawValue) {
            let examples = HelpExamples(help)
            #expect(!examples.lines.isEmpty, "\(path)")
            #expect(examples.broken.isEmpty, "\(path): \(examples.broken)")
        }
    }

    @Test("No example of macOS's commands is wrapped")
    func macOS() {
        for entry in CommandTable.entries {
            guard case .implemented = entry.support else { continue }
            let examples = HelpExamples(keychain.latchkey("help \(entry.name)").output)
            #expect(examples.broken.isEmpty, "\(entry.name): \(examples.broken)")
        }
    }

    @Test(
        "An example that writes a file for a secret makes it with mode 0600 before: other commands refuse another mode",
        .long,
        .long,
        arguments: LatchkeySubcommand.allCases)
    func modes(command: LatchkeySubcommand) {
        for (path, help) in helps(of: command.rawValue) {
            let lines = HelpExamples(help).lines
            for (index, line) in lines.enumerated() where line.hasSuffix(" > paper.txt") {
                #expect(index > 0 && lines[index - 1] == "  install -m 600 /dev/null paper.txt", "\(path): \(line)")
            }
        }
    }

    @Test("The recovery key that the examples write is one that they read")
    func recoveryKey() {
        let created = HelpExamples(keychain.latchkey("recovery-key create --help").output).lines
        #expect(created.contains { $0.hasSuffix(" > paper.txt") })
        let used = HelpExamples(keychain.latchkey("recovery-key use --help").output).lines
        #expect(used.contains { $0.contains(" --key-file paper.txt ") })
    }

    /// The help of a command and of all commands below it.
    private func helps(of path: String) -> [(String, String)] {
        let help = keychain.latchkey("\(path) --help").output
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        let list = lines.drop { $0 != "SUBCOMMANDS:" }.dropFirst().prefix { !$0.isEmpty }
        let names = list.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first }
        return [(path, help)] + names.flatMap { helps(of: "\(path) \($0)") }
    }
}
