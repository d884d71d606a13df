// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel

/// The root of swift-argument-parser's command tree: help, completions and Latchkey's own
/// sub-commands.
struct LatchkeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey",
        abstract: "Apple's keychain for Linux.",
        discussion: """
            EXAMPLES:
              latchkey status
              latchkey add-generic-password -a alice -s example.com -U -w
              latchkey find-generic-password -a alice -s example.com -w
              latchkey --generate-completion-script bash > /etc/bash_completion.d/latchkey

            Called as 'security', it behaves like macOS's command of that name.
            """,
        version: LatchkeyVersion.current,
        groupedSubcommands: [
            CommandGroup(name: "Latchkey", subcommands: LatchkeySubcommand.commands),
            CommandGroup(name: "macOS", subcommands: ListedCommands.all),
        ])
}
