// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Measures the throughput of a large response.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download", abstract: "Compare the throughput of a large response with FoundationNetworking.",
        discussion: """
            The delegates of data tasks count bytes; downloads to files end with the complete file. The contenders \
            alternate in one process.
            """)

    @OptionGroup var options: ServerOptions

    @Option(help: "The length of the response, in bytes.")
    var length: Int

    @Option(help: "The directory for files that are downloaded.")
    var directory: String

    @Option(help: "The number of rounds; each round measures every contender.")
    var rounds = 5

    @Option(parsing: .upToNextOption, help: "The contenders, of which the first is what others are compared with.")
    var data: [DownloadContender] = [.foundationDelegate, .latchkeyDelegate, .floor]

    @Option(parsing: .upToNextOption, help: "Those that write files.")
    var files: [DownloadContender] = [.foundationFile, .latchkeyFile]

    func run() async throws {
        let server = try options.server()
        for contenders in [data, files] where !contenders.isEmpty {
            let runs = try contenders.map { try $0.client(server, directory) }
            let measurement = try await InterleavedMeasurement.run(
                rounds: rounds, contenders: contenders.map(\.rawValue)
            ) { index in
                let count = try await runs[index]()
                guard count == length else { throw BenchmarkFailure("expected \(length) bytes, found \(count)") }
            }
            print(measurement.table(perRound: max(1, length >> 20), unit: "µs per MiB").text)
        }
    }
}
