// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting

/// A worker whose lines are read while it runs, so that it can be killed once it has said enough, however fast the machine is.
final class WatchedWorker {
    private let process: Process
    private let pipe = Pipe()
    private var said: [UInt8] = []

    init(_ words: [String], home: String, environment: [String: String] = [:]) throws {
        process = Executable.process("ProofWorker", words, home: home, environment: environment)
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// The whole lines so far; the last one may be cut short.
    var lines: [String] {
        said.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Waits until it has said so many lines with this prefix, or has ended.
    func wait(forLines count: Int, startingWith prefix: String = "") {
        while lines.count(where: { $0.hasPrefix(prefix) }) < count, readMore() {}
    }

    /// Kills it; everything that it said.
    func kill() -> [String] {
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        while readMore() {}
        process.waitUntilExit()
        return lines
    }

    /// False at the end of what it says.
    private func readMore() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(pipe.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
        if count > 0 { said += buffer.prefix(count) }
        return count > 0 || (count < 0 && errno == EINTR)
    }
}
