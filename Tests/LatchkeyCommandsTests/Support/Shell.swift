// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting

/// A shell that finds `latchkey` and `security`, with its own keychain.
struct Shell {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["latchkey", "security"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory.path)/\(name)", withDestinationPath: Executable.path("latchkey"))
        }
    }

    var environment: [String: String] {
        [
            "PATH": "\(directory.path):/usr/bin:/bin", "LATCHKEY_HOME": "\(directory.path)/home",
            "PASS": "\(directory.path)/pass", "LATCHKEY_NO_DAEMON": "1",
        ]
    }

    func run(_ script: String) throws -> Outcome {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", script]
        shell.environment = environment
        let (output, error) = ("\(directory.path)/output", "\(directory.path)/error")
        for path in [output, error] { try Data().write(to: URL(filePath: path)) }
        shell.standardInput = FileHandle.nullDevice
        shell.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        shell.standardError = try FileHandle(forWritingTo: URL(filePath: error))
        try shell.start()
        shell.waitUntilExit()
        return Outcome(
            exit: shell.terminationStatus, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }
}
