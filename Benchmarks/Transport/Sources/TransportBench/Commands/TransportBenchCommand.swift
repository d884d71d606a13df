// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct TransportBenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-transport-bench",
        abstract: "Measure LatchkeyURLSession against a server that Scripts/measure/transport starts.",
        subcommands: [HandshakeCommand.self, DownloadCommand.self, ConcurrencyCommand.self])
}
