// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A running command `latchkey` with a terminal of the test as its standard input and error.
public final class CommandOnTerminal: Sendable {
    private let process: SpawnedProcess
    private let terminal: PseudoTerminal?
    private let outputPath: String

    /// Starts the command as a client of a daemon.
    ///
    /// - Parameter terminal: nil for none.
    public init(_ words: [String], on terminal: PseudoTerminal?, clientOf daemon: DaemonProcess) throws {
        self.terminal = terminal
        outputPath = "\(daemon.directory.path)/output-\(UUID().uuidString)"
        let shell = ["/bin/sh", "-c", "T=$1; shift; exec \"$@\" <\"$T\" 2>\"$T\"", "sh", terminal?.path ?? "/dev/null"]
        process = try SpawnedProcess(
            shell + [Executable.path("latchkey")] + words,
            environment: daemon.environment.merging([
                "LATCHKEY_HOME": daemon.home, "PATH": "/usr/bin:/bin", "TERM": "xterm", "SWIFT_BACKTRACE": "enable=no",
            ]) { $1 }, output: outputPath)
    }

    /// The output of the command until now.
    public var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }

    public var isRunning: Bool { process.isRunning }
    public var processIdentifier: Int32 { process.processIdentifier }

    /// Waits for the end, and returns the exit status. The screen is read meanwhile, because a full one
    /// blocks the program that draws on it.
    public func wait() -> Int32 {
        _ = eventually {
            _ = terminal?.screen
            return !process.isRunning
        }
        return process.stop(signal: SIGKILL)
    }

    /// Ends the command.
    public func stop(signal: Int32) { _ = process.stop(signal: signal) }
}
