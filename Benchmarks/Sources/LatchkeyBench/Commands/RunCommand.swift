// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Runs all measurements and prints the report.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measure everything and print the table (the default).",
        discussion: "Exits with 0 even if an aim is missed, and with 1 if an operation fails.")

    @Option(
        parsing: .upToNextOption, help: "The numbers of items to measure with, separated by commas or spaces.")
    var sizes: [SizeList] = []

    @Flag(help: "Only 10 and 1 000 items.")
    var quick = false

    @Option(
        help: ArgumentHelp("The executable `security` or `latchkey`, to measure whole processes.", valueName: "path")
    )
    var security: String?

    @Option(help: ArgumentHelp("Also write the raw figures to this file.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("The directory for temporary databases; on a real disk, not tmpfs.", valueName: "dir"))
    var directory: String?

    func validate() throws {
        if let security, !FileManager.default.isExecutableFile(atPath: security) {
            throw ValidationError("--security: \(security) is not an executable file")
        }
    }

    func run() throws {
        let temporary = try TemporaryDirectory(in: directory ?? NSTemporaryDirectory())
        defer { temporary.remove() }
        let results = try Benchmark(sizes: chosenSizes, directory: temporary, security: security).run()
        print(Report(results: results).text)
        if let json { try ResultsFile(results).write(to: json) }
    }

    /// In ascending order, without duplicates.
    private var chosenSizes: [Int] {
        if !sizes.isEmpty { return Set(sizes.flatMap(\.sizes)).sorted() }
        return quick ? [10, 1_000] : [10, 1_000, 100_000, 1_000_000]
    }
}
