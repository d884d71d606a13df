// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// A shell with its own keychain that finds `latchkey`, `security` and ``tools``, and nothing else
/// of the machine.
struct Shell {
    let directory: TemporaryDirectory

    /// The programs that scripts of tests use.
    private static let tools = [
        "basename", "cat", "chmod", "chown", "cp", "cut", "dirname", "env", "grep", "head", "id", "ln", "ls", "mkdir",
        "mkfifo", "mount", "mv", "od", "readlink", "rm", "sed", "seq", "sh", "sleep", "sort", "sqlite3", "stat", "stty",
        "tail", "timeout", "touch", "tr", "true", "truncate", "umount", "unshare", "wc", "yes",
    ]

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["latchkey", "security"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory.path)/\(name)", withDestinationPath: Executable.path("latchkey"))
        }
        try FileManager.default.createDirectory(atPath: toolPath, withIntermediateDirectories: false)
        for name in Self.tools {
            let place = ["/usr/bin", "/bin"].first { access("\($0)/\(name)", X_OK) == 0 }
            let found = try #require(place, "\(name) is not installed")
            try FileManager.default.createSymbolicLink(
                atPath: "\(toolPath)/\(name)", withDestinationPath: "\(found)/\(name)")
        }
    }

    private var toolPath: String { "\(directory.path)/tools" }

    var environment: [String: String] {
        [
            "PATH": "\(directory.path):\(toolPath)", "LATCHKEY_HOME": "\(directory.path)/home",
            "PASS": "\(directory.path)/pass", "LATCHKEY_NO_DAEMON": "1",
        ]
    }

    /// Runs a script. In it, `await COMMAND` repeats the command until it succeeds.
    func run(_ script: String) throws -> Outcome {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", Self.await + script]
        shell.environment = environment
        let (output, error) = ("\(directory.path)/output", "\(directory.path)/error")
        for path in [output, error] { try Data().write(to: URL(filePath: path)) }
        shell.standardInput = FileHandle.nullDevice
        shell.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        shell.standardError = try FileHandle(forWritingTo: URL(filePath: error))
        try shell.start()
        let status = shell.awaitExit()
        return Outcome(
            exit: status, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }

    /// A function that waits at most some minutes, as each wait of a test does.
    private static let await = """
        await() {
            left=6000
            until "$@"; do
                left=$((left - 1))
                [ $left -gt 0 ] || { echo "not within the time: $*" >&2; exit 99; }
                sleep 0.05
            done
        }

        """
}
