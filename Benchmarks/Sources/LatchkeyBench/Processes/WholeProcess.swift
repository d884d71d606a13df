// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Measures `security find-generic-password -w` from its start to its end, and processes that do
/// less for comparison.
struct WholeProcess {
    private let security: String?
    private let environment: [String]

    init(home: String, security: String?) {
        self.security = security
        self.environment = Self.environment(home: home)
    }

    /// A process that is timed.
    private struct Command {
        let name: String
        let path: String
        let words: (Item) -> [String]
        /// Whether its output is correct.
        let isRight: (Item, String) -> Bool
        var timings = Timings()
    }

    /// Starts each command many times, alternately.
    func measure(size: Int, picker: inout ItemPicker) throws -> [ProcessTime] {
        ProgressLine.say("\(Text.grouped(size)) items: whole processes")
        var commands = self.commands
        for round in 0..<(Self.warmUpRounds + Self.rounds) {
            for item in picker.items(1, below: size) {
                for index in commands.indices {
                    let time = try run(commands[index], item)
                    if round >= Self.warmUpRounds { commands[index].timings.append(time) }
                }
            }
        }
        return commands.map { ProcessTime(name: $0.name, time: $0.timings.summary) }
    }

    private func run(_ command: Command, _ item: Item) throws -> UInt64 {
        let outcome = try ChildProcess.run(command.path, command.words(item), environment: environment)
        guard outcome.exitValue == 0 else {
            throw BenchmarkFailure("\(command.name), item \(item.number): exited with \(outcome.exitValue)")
        }
        guard command.isRight(item, outcome.output) else {
            throw BenchmarkFailure("\(command.name), item \(item.number): the output is not the secret")
        }
        return outcome.nanoseconds
    }

    private var commands: [Command] {
        var commands = [
            Command(name: Self.emptyName, path: "/bin/true", words: { _ in ["true"] }, isRight: { _, _ in true })
        ]
        if let path = Self.printOnlyPath {
            commands.append(
                Command(
                    name: "a Swift command that prints", path: path, words: { _ in ["print-only"] },
                    isRight: { _, output in !output.isEmpty }))
        }
        if let security {
            commands.append(
                Command(
                    name: Self.findName, path: security,
                    words: { ["security", "find-generic-password", "-a", $0.account, "-s", $0.service, "-w"] },
                    isRight: { $0.owns($1.utf8) }))
        }
        return commands
    }

    /// The path of this package's executable that only prints.
    private static var printOnlyPath: String? {
        guard let own = try? ownPath() else { return nil }
        let path = "\((own as NSString).deletingLastPathComponent)/print-only"
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    /// The path of this process's executable.
    static func ownPath() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    /// This process's environment with the keychain's home.
    static func environment(home: String) -> [String] {
        var variables = ProcessInfo.processInfo.environment
        variables["LATCHKEY_HOME"] = home
        variables["LATCHKEY_EPHEMERAL"] = nil
        return variables.map { "\($0.key)=\($0.value)" }
    }

    /// The name of the row that an aim refers to.
    static let findName = "security find-generic-password -w"
    private static let emptyName = "an empty process (/bin/true)"
    private static let rounds = 60
    private static let warmUpRounds = 5
}
