// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel

/// The root of swift-argument-parser's command tree: completions and Latchkey's own sub-commands.
/// `GeneralUsage` has the help of the root.
struct LatchkeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey",
        abstract: "Apple's keychain for Linux.",
        version: LatchkeyVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Latchkey", subcommands: ListedCommands.daily + LatchkeySubcommand.parsableCommands),
            CommandGroup(name: "macOS", subcommands: ListedCommands.macOS),
        ])
}
