// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// Programs that call Foundation, without and with the redirections.
@Suite("Redirections of Foundation's calls")
struct FilePromisesTests {
    /// - Parameter prepare: is called with the directory above that of the files.
    private func run(
        _ program: String, _ words: String..., prepare: (String) throws -> Void = { _ in }
    ) throws -> Executable.Outcome {
        let directory = try TemporaryDirectory()
        try prepare(directory.path)
        let folder = "\(directory.path)/files"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var outcome = try Executable.run(
            program, words.map { $0 == "DIRECTORY" ? folder : $0 }, home: "\(directory.path)/home",
            environment: ["HOME": directory.path])
        outcome = Executable.Outcome(
            status: outcome.status, output: outcome.output.replacing(directory.path, with: "…"), error: outcome.error)
        try #require(outcome.status == 0, "\(outcome)")
        return outcome
    }

    @Test("Calls without protection behave as in a program without the redirections")
    func files() throws {
        let (plain, redirected) = (
            try run("PlainPromises", "files", "DIRECTORY"), try run("RedirectedPromises", "files", "DIRECTORY")
        )
        #expect(plain.output.split(separator: "\n").count > 120)
        for (one, other) in zip(plain.output.split(separator: "\n"), redirected.output.split(separator: "\n")) {
            #expect(one == other)
        }
        #expect(plain == redirected)
    }

    @Test(
        "The class of a directory is a refusal if another user has chosen it, and nothing in a directory with the sticky bit",
        .enabled(if: geteuid() == 0, "makes a file of another user"), arguments: [true, false])
    func others(_ isSticky: Bool) throws {
        let redirected = try run("RedirectedPromises", "files", "DIRECTORY") { directory in
            let policy = "\(directory)/.latchkey-protect"
            try Data("class = complete\n".utf8).write(to: URL(filePath: policy))
            #expect(chown(policy, 65534, 65534) == 0 && chmod(directory, isSticky ? 0o1777 : 0o777) == 0)
        }
        #expect(redirected.output.hasPrefix("write: ()\n") == isSticky)
    }

    @Test("UserDefaults.standard is as before, with one warning for values with a name such as password")
    func defaults() throws {
        let (plain, redirected) = (try run("PlainPromises", "defaults"), try run("RedirectedPromises", "defaults"))
        #expect(plain.output == redirected.output)
        #expect(plain.error.isEmpty)
        let warnings = redirected.error.split(separator: "\n")
        #expect(warnings.count == 1 && warnings.first?.contains("UserDefaults.standard") == true, "\(warnings)")
        #expect(!redirected.error.contains("planted") && !redirected.error.contains("apiToken"))
    }

    @Test("Calls with protection seal files, obey the lock, and never return the bytes on the disk")
    func protection() throws {
        let redirected = try run("RedirectedPromises", "protection", "DIRECTORY")
        let expected = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "protection.txt"),
            encoding: .utf8)
        let lines = (expected.split(separator: "\n"), redirected.output.split(separator: "\n"))
        for (one, other) in zip(lines.0, lines.1) { #expect(one == other) }
        #expect(lines.0.count == lines.1.count)
        #expect(redirected.error.isEmpty)
    }

    @Test("Without the redirections the same program writes readable files")
    func unredirected() throws {
        let plain = try run("PlainPromises", "protection", "DIRECTORY")
        #expect(plain.output.contains("\ncomplete: plain, readable\n"))
    }
}
