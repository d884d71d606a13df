// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting

/// A worker with output that is read while it runs, so that it can be killed after a number of lines, regardless of the
/// speed of the machine.
final class WatchedWorker {
    private let process: Process
    private let pipe = Pipe()
    private var said: [UInt8] = []

    init(_ words: [String], home: String, environment: [String: String] = [:]) throws {
        process = Executable.process("ProofWorker", words, home: home, environment: environment)
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.start()
    }

    /// The output lines so far; the last one may be incomplete.
    var lines: [String] {
        said.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Waits until the worker has printed a number of lines with this prefix, or has ended.
    func wait(forLines count: Int, startingWith prefix: String = "") {
        while lines.count(where: { $0.hasPrefix(prefix) }) < count, readMore() {}
    }

    /// Kills the worker; returns its whole output.
    func kill() -> [String] {
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        while readMore() {}
        process.awaitExit()
        return lines
    }

    /// Reads more output; returns false at its end.
    private func readMore() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(pipe.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
        if count > 0 { said += buffer.prefix(count) }
        return count > 0 || (count < 0 && errno == EINTR)
    }
}
