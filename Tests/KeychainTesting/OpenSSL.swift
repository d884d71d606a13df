// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The command `openssl` as a reference implementation, with a temporary directory for its files.
public final class OpenSSL: Sendable {
    private let directory: TemporaryDirectory
    private let number = Atomic(0)

    public init() throws {
        directory = try TemporaryDirectory()
    }

    public struct Outcome: Sendable {
        public let status: Int32
        public let output: [UInt8]
        public let error: String
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Returns the path of a file in the temporary directory.
    public func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    /// Writes these bytes to a new file; returns its path.
    public func file(_ bytes: some Sequence<UInt8>) throws -> String {
        let path = path("\(number.add(1, ordering: .relaxed).newValue)")
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    public func run(_ words: [String], program: String = "/usr/bin/openssl") throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = words
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        // Standard error goes to a file, because with two pipes the process could block while one
        // is read.
        let errorPath = path("errors\(number.add(1, ordering: .relaxed).newValue)")
        _ = FileManager.default.createFile(atPath: errorPath, contents: nil)
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errorPath))
        try process.start()
        let bytes = output.fileHandleForReading.awaitEnd()
        let status = process.awaitExit()
        let errorOutput = try Data(contentsOf: URL(filePath: errorPath))
        return Outcome(
            status: status, output: Array(bytes), error: String(decoding: errorOutput, as: UTF8.self)
        )
    }

    /// Runs a command that must succeed; returns its output.
    @discardableResult
    public func output(_ words: [String], program: String = "/usr/bin/openssl") throws -> [UInt8] {
        let outcome = try run(words, program: program)
        guard outcome.status == 0 else {
            throw Failure(description: "\(words.joined(separator: " ")): \(outcome.error)")
        }
        return outcome.output
    }
}
