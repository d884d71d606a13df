// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `latchkey-bench`: wiring only.
@main
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-bench",
        abstract: "Measures Latchkey beside the least that its format costs.",
        subcommands: [
            RunCommand.self, DaemonCommand.self, ResidentCommand.self, ProfileCommand.self, ClientCommand.self,
            EchoCommand.self,
            FillCommand.self, KeysCommand.self, TrustCommand.self,
        ],
        defaultSubcommand: RunCommand.self)
}
