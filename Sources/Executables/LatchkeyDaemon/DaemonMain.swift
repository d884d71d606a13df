// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import Logging

/// The executable of `latchkeyd`, `latchkey-secret-service` and `latchkey-biometry-digest`, because they share most of
/// their code. The name in the call selects the program.
@main
enum DaemonMain {
    static func main() {
        let name = ProcessArguments.all.first?.split(separator: "/").last.map(String.init)
        let programs: [any DaemonProgram.Type] = [
            LatchkeyDaemon.self, LatchkeySecretService.self, LatchkeyBiometryDigest.self,
        ]
        (programs.first { $0.name == name } ?? LatchkeyDaemon.self).start()
    }
}

/// A program of this executable: its command line, and the start.
protocol DaemonProgram: ParsableCommand {
    static var name: String { get }
}

extension DaemonProgram {
    /// Runs the program. The arguments are read without /proc, and are printable text in messages.
    static func start() -> Never {
        do {
            var command = try parseAsRoot(try ProcessArguments.texts())
            try command.run()
            Glibc.exit(EXIT_SUCCESS)
        } catch {
            let status = exitCode(for: error)
            let message = fullMessage(for: error)
            let text: TerminalText = message.isEmpty ? "" : TerminalText(lines: message) + "\n"
            put(text, to: status == .success ? STDOUT_FILENO : STDERR_FILENO)
            Glibc.exit(status.rawValue)
        }
    }

    /// The log on standard error. The service manager or the bus collects it.
    static func log(_ level: LogLevel) -> Logger {
        LoggingSystem.bootstrap(PrintableLogHandler.init)
        var log = Logger(label: name)
        log.logLevel = Logger.Level(rawValue: level.rawValue) ?? .notice
        return log
    }

    /// Reports an error, and returns the one that ends the process.
    static func failure(_ problem: String, _ hint: String?) -> any Error {
        say("\(problem)" + (hint.map { "\nhint: \($0)" } ?? ""))
        return ExitCode.failure
    }

    static func say(_ text: TerminalText) {
        put("\(name): \(text)\n", to: STDERR_FILENO)
    }

    private static func put(_ text: TerminalText, to descriptor: Int32) {
        Array(text.string.utf8).withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}

/// The levels of `--log-level`, by the names of swift-log's.
enum LogLevel: String, CaseIterable, ExpressibleByArgument { case debug, info, notice, warning, error }
