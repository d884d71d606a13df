// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Compares the Secret Service of Latchkey with gnome-keyring.
struct SecretServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service", abstract: "Compare the Secret Service with gnome-keyring, by the same client.",
        discussion: """
            Each provider has a bus and a home of its own, and a keychain without a passcode; gnome-keyring has a \
            keyring with a password, which is open. A provider that is not installed is left out with a note, and so \
            is a size to which a provider does not store within --budget: gnome-keyring writes all items for each. \
            Exits with 0 even if an aim is missed, and with 1 if an operation fails.

            EXAMPLES:
              latchkey-bench secret-service --secret-service ../.build/release/latchkey-secret-service --quick
              latchkey-bench secret-service --secret-service PATH --only gnome-keyring --sizes 10000 --budget 3600
            """)

    @Option(help: ArgumentHelp("The executable `latchkey-secret-service`.", valueName: "path"))
    var secretService: String?

    @Option(help: ArgumentHelp("The executable `latchkeyd`: measures the service through it, too.", valueName: "path"))
    var latchkeyd: String?

    @Option(
        parsing: .upToNextOption, help: "The numbers of items to measure with, separated by commas or spaces.")
    var sizes: [SizeList] = []

    @Flag(help: "Only 10 and 1 000 items.")
    var quick = false

    @Option(help: "Only latchkey, latchkeyd or gnome-keyring; can be repeated.")
    var only: [SecretProviderKind] = []

    @Option(help: ArgumentHelp("The time to store the items of one size.", valueName: "seconds"))
    var budget = 300.0

    @Option(help: ArgumentHelp("Also write the raw figures to this file.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("The directory for temporary files; on a real disk, not tmpfs.", valueName: "dir"))
    var directory: String?

    func validate() throws {
        for (name, path) in [("--secret-service", secretService), ("--latchkeyd", latchkeyd)] {
            if let path, !FileManager.default.isExecutableFile(atPath: path) {
                throw ValidationError("\(name): \(path) is not an executable file")
            }
        }
        guard secretService != nil || kinds == [.gnomeKeyring] else {
            throw ValidationError("--secret-service: expected the path of latchkey-secret-service")
        }
        guard !kinds.contains(.daemon) || latchkeyd != nil else {
            throw ValidationError("--latchkeyd: expected the path of latchkeyd")
        }
        guard (1...1_000_000).contains(budget) else {
            throw ValidationError("--budget: expected 1 to 1 000 000 seconds")
        }
    }

    func run() throws {
        let temporary = try TemporaryDirectory(in: directory ?? NSTemporaryDirectory())
        defer { temporary.remove() }
        let programs = SecretProvider.Programs(
            secretService: secretService.map { URL(fileURLWithPath: $0).path } ?? "",
            latchkeyd: latchkeyd.map { URL(fileURLWithPath: $0).path })
        let report = try SecretServiceBenchmark(
            kinds: kinds, programs: programs, sizes: chosenSizes, budget: budget, directory: temporary.path
        ).run()
        print(report.text)
        if let json { try report.write(to: json) }
    }

    private var kinds: [SecretProviderKind] {
        if !only.isEmpty { return SecretProviderKind.allCases.filter { only.contains($0) } }
        return SecretProviderKind.allCases.filter { $0 != .daemon || latchkeyd != nil }
    }

    /// In ascending order, without duplicates.
    private var chosenSizes: [Int] {
        if !sizes.isEmpty { return Set(sizes.flatMap(\.sizes)).sorted() }
        return quick ? [10, 1_000] : [10, 1_000, 10_000, 100_000]
    }
}
