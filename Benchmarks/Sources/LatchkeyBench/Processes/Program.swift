// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A program of this machine, with its environment.
struct Program {
    let path: String
    let environment: [String: String]

    /// Finds a program in PATH.
    static func find(_ name: String, _ environment: [String: String]) -> Result<Program, MissingTool> {
        for directory in "\(environment["PATH"] ?? ""):/usr/bin:/bin".split(separator: ":") {
            let path = "\(directory)/\(name)"
            if access(path, X_OK) == 0 { return .success(Program(path: path, environment: environment)) }
        }
        return .failure(MissingTool("\(name) is not installed"))
    }

    /// Runs it to its end, with its output thrown away.
    func run(_ arguments: [String]) throws {
        let process = try MeasuredProcess(path, arguments, environment: environment)
        try require(process.exitValue(waits: true), arguments)
    }

    /// Runs it to its end, and returns its largest resident memory in KiB.
    ///
    /// It is read every half millisecond, because the kernel's value for an ended process (ru_maxrss) includes the
    /// memory that this process had when it started the other one.
    func peakKiB(_ arguments: [String]) throws -> Int {
        let process = try MeasuredProcess(path, arguments, environment: environment)
        var peak = 0
        while process.exitValue(waits: false) == nil {
            peak = max(peak, process.peakKiB)
            usleep(500)
        }
        try require(process.exitValue(waits: true), arguments)
        return peak
    }

    /// Runs it to its end, and returns its output.
    func output(_ arguments: [String]) throws -> String {
        let outcome = try ChildProcess.run(
            path, [path] + arguments, environment: environment.map { "\($0.key)=\($0.value)" })
        try require(outcome.exitValue, arguments)
        return outcome.output
    }

    private func require(_ value: Int32?, _ arguments: [String]) throws {
        guard value != 0 else { return }
        let words = ([path] + arguments).joined(separator: " ")
        throw BenchmarkFailure("\(words): exited with \(value ?? -1)")
    }
}
