// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Measures one GET on a new connection, sequentially.
struct HandshakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handshake",
        abstract: "Compare a connection, a handshake and a GET with NIO and BoringSSL's own verification.",
        discussion: """
            The server must end the connection after each response. The contenders alternate in one process. The \
            ratios compare each batch with that of the floor in the same round.
            """)

    @OptionGroup var options: ServerOptions

    @Option(help: "The number of rounds; each round measures every contender.")
    var rounds = 40

    @Option(help: "The number of requests of a contender in one round.")
    var requests = 50

    @Option(parsing: .upToNextOption, help: "The contenders, of which the first is the floor.")
    var contenders: [HandshakeContender] = [
        .floor, .latchkeyNIOSSL, .latchkeySession, .latchkeyURLSession, .systemTrust, .sessionAlone,
    ]

    func run() async throws {
        let server = try options.server()
        var runs: [(name: String, get: @Sendable () async throws -> Void)] = []
        for contender in contenders { runs.append((contender.rawValue, try contender.client(server))) }
        let measurement = try await InterleavedMeasurement.run(rounds: rounds, contenders: runs.map(\.name)) { index in
            for _ in 0..<requests { try await runs[index].get() }
        }
        print(measurement.table(perRound: requests, unit: "µs per request").text)
    }
}
