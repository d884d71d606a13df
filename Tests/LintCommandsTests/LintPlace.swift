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

    func lint(_ words: [String]) throws -> Executable.Outcome { try run("latchkey-lint", ["lint"] + words, home: path) }

    /// Runs a program of ours in the directory, with the keychain under `home`.
    func run(_ program: String, _ words: [String], home: String, input: String? = nil) throws -> Executable.Outcome {
        let script = "cd \"$1\" && shift && exec \"$@\""
        return try Executable.run(
            "/bin/sh", ["-c", script, "sh", path, Executable.path(program)] + words, home: home, input: input)
    }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
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
        let excluded: Int
    }

    func report(_ words: String..., status: Int32) throws -> Report {
        let outcome = try lint(["--json"] + words)
        #expect(outcome.status == status, "\(outcome)")
        return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    }
}
