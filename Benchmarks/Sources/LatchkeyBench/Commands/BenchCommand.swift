// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command `latchkey-bench`: only its sub-commands.
@main
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-bench",
        abstract: "Compare Latchkey with the minimum that its format requires (the floor).",
        subcommands: [
            RunCommand.self, DaemonCommand.self, ResidentCommand.self, ProfileCommand.self, CallsCommand.self,
            ClientCommand.self,
            EchoCommand.self,
            FillCommand.self, KeysCommand.self, TrustCommand.self, ConstraintsCommand.self,
            EnclaveCommand.self, FilesCommand.self, SecretServiceCommand.self,
        ],
        defaultSubcommand: RunCommand.self)
}
