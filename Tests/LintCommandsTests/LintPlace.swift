// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// A directory of files, and `latchkey lint` as a process in it.
struct LintPlace {
    private let directory: TemporaryDirectory

    var path: String { directory.path }

    init() throws { directory = try TemporaryDirectory() }

    func write(_ text: String, _ name: String) throws {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func lint(_ words: String...) throws -> Executable.Outcome { try lint(words) }

    func lint(_ words: [String]) throws -> Executable.Outcome {
        let script = "cd \"$1\" && shift && exec \"$@\""
        let program = Executable.path("latchkey-lint")
        return try Executable.run("/bin/sh", ["-c", script, "sh", path, program, "lint"] + words, home: path)
    }

    struct Report: Decodable {
        struct Finding: Decodable {
            let kind: String
            let file: String
            let inside: [String]
            let encodings: [String]
            let line: Int
            let column: Int
            let name: String
            let masked: String
        }
        struct Problem: Decodable {
            let file: String
            let reason: String
        }
        let findings: [Finding]
        let problems: [Problem]
        let files: Int
        let known: Int
        let disabled: Int
    }

    func report(_ words: String..., status: Int32) throws -> Report {
        let outcome = try lint(["--json"] + words)
        #expect(outcome.status == status, "\(outcome)")
        return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    }
}
