// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Measures many requests at once, and the resources of the process afterwards.
struct ConcurrencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "concurrency", abstract: "Run many requests at once over HTTP/2, and look for growth.",
        discussion: """
            The server must answer with the number of the connection. Exits with 1 if the process has grown beyond \
            the limits from the second round to the last, or has used more connections than allowed.
            """)

    @OptionGroup var options: ServerOptions

    @Option(help: "The number of requests at once.")
    var requests = 1000

    @Option(help: "The number of rounds; at least three.")
    var rounds = 10

    @Option(help: "The most KiB by which the resident memory may grow.")
    var maxGrowth = 12 << 10

    @Option(help: "The most connections of one contender.")
    var maxConnections = 2

    @Option(parsing: .upToNextOption, help: "The contenders.")
    var contenders = ConcurrentContender.allCases

    func validate() throws { if rounds < 3 { throw ValidationError("--rounds must be at least 3") } }

    func run() async throws {
        let server = try options.server()
        var hasGrown = false
        var table = TextTable(rows: [
            ["contender", "ms per round", "connections", "KiB, round 2", "last", "threads", "last", "files", "last"]
        ])
        for contender in contenders {
            let growth = try await growth(of: contender, server)
            table.rows.append(growth.row(contender.rawValue))
            for excess in growth.excesses(maxGrowth: maxGrowth, maxConnections: maxConnections) {
                hasGrown = true
                FileHandle.standardError.write(Data("\(contender.rawValue): \(excess)\n".utf8))
            }
        }
        print(table.text)
        if hasGrown { throw ExitCode.failure }
    }

    private func growth(of contender: ConcurrentContender, _ server: Server) async throws -> Growth {
        let get = try contender.client(server)
        var (times, connections): ([Double], Set<String>) = ([], [])
        var second: ProcessUsage?
        for round in 1...rounds {
            let start = ContinuousClock.now
            connections.formUnion(try await Self.connections(requests, get))
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            if round == 2 { second = try ProcessUsage.current() }
        }
        guard let second else { throw BenchmarkFailure("there was no second round") }
        return Growth(
            milliseconds: times.median, connections: connections.count, before: second, after: try .current())
    }

    /// Makes requests at once, and returns the numbers of their connections.
    private static func connections(_ count: Int, _ get: @escaping @Sendable () async throws -> String) async throws
        -> Set<String>
    {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count { group.addTask { try await get() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
    }
}
