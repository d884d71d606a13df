// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Runs the executables that the package builds beside the tests.
public enum Executable {
    /// Returns the path of an executable of this package; an absolute path is returned unchanged.
    public static func path(_ name: String) -> String {
        guard !name.hasPrefix("/") else { return name }
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: tests).deletingLastPathComponent().appending(path: name).path
    }

    /// Creates a process that uses the keychain under `home`, without starting it.
    public static func process(_ name: String, _ arguments: [String], home: String, environment: [String: String] = [:])
        -> Process
    {
        let process = Process()
        process.executableURL = URL(filePath: path(name))
        process.arguments = arguments
        process.environment = [
            "LATCHKEY_HOME": home, "SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin", "LATCHKEY_NO_DAEMON": "1",
        ].merging(
            environment
        ) { $1 }
        return process
    }

    public struct Outcome: Sendable, Equatable {
        public let status: Int32
        public let output: String
        public let error: String

        public init(status: Int32, output: String, error: String) {
            self.status = status
            self.output = output
            self.error = error
        }
    }

    /// Runs a process until it ends.
    public static func run(
        _ name: String, _ arguments: [String], home: String, environment: [String: String] = [:], input: String? = nil
    ) throws -> Outcome {
        let process = process(name, arguments, home: home, environment: environment)
        let directory = try TemporaryDirectory()
        // Files instead of pipes, so that the process cannot block on a full pipe.
        let output = try sink("\(directory.path)/output")
        let error = try sink("\(directory.path)/error")
        process.standardOutput = output
        process.standardError = error
        if let input {
            try Data(input.utf8).write(to: URL(filePath: "\(directory.path)/input"))
            process.standardInput = try FileHandle(forReadingFrom: URL(filePath: "\(directory.path)/input"))
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.start()
        let status = process.awaitExit()
        return Outcome(
            status: status,
            output: try String(contentsOfFile: "\(directory.path)/output", encoding: .utf8),
            error: try String(contentsOfFile: "\(directory.path)/error", encoding: .utf8))
    }

    private static func sink(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try FileHandle(forWritingTo: URL(filePath: path))
    }
}
