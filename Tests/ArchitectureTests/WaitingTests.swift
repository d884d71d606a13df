// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A wait of a test has an end, also if the awaited event never happens.
@Suite("Waits")
struct WaitingTests {
    /// A wait without an end, and the wait that has one.
    struct Rule: Sendable, CustomTestStringConvertible {
        let pattern: String
        /// Only files that contain this are meant.
        var context = ""
        var exceptions: Set<String> = []
        let instead: String

        var testDescription: String { pattern }
    }

    @Test(
        "Tests wait with a limit: for processes, pipes, signals, and in scripts",
        arguments: [
            Rule(pattern: #"\.waitUntilExit\(\)"#, instead: "awaitExit()"),
            // The file of a process's memory has an end.
            Rule(
                pattern: #"readDataToEndOfFile\(\)"#, exceptions: ["SecretBytesTests.swift"], instead: "awaitEnd()"),
            Rule(pattern: #"\.availableData\b"#, instead: "awaitContent()"),
            Rule(
                pattern: #"\b(?!self)\w+\.wait\(\)"#, context: #"Dispatch(Semaphore|Group)\("#,
                instead: "awaitSignal(), or eventually { group.wait(timeout: .now()) == .success }"),
            // The replay of fuzzers' cases, which has an end of its own, is built without these waits.
            Rule(
                pattern: #"while [^{]*\{ usleep\([^)]*\) \}"#, exceptions: ["FuzzPerson.swift"],
                instead: "eventually { … }"),
            Rule(pattern: #"\b(until|while) [^:\n][^;\n]*; *do sleep"#, instead: "a loop that counts"),
        ])
    func limits(_ rule: Rule) throws {
        let (wait, context) = (try Regex(rule.pattern), try Regex(rule.context))
        let files = try Self.files()
        #expect(files.count > 500)
        for file in files where !rule.exceptions.contains(file.name) {
            guard rule.context.isEmpty || file.withoutComments.contains(context) else { continue }
            for found in file.withoutComments.matches(of: wait) {
                Issue.record("\(file.path): \(file.withoutComments[found.range]): expected \(rule.instead)")
            }
        }
    }

    /// The files of tests, without the processes that tests start, and without the waits themselves.
    private static func files() throws -> [Sources.File] {
        let directory = Sources.root.appending(path: "Tests")
        let others = ["KeychainTesting/", "ProofWorker/", "FolderTool/", "TransportWorker/", "ArchitectureTests/"]
        return try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { path in
            path.hasSuffix(".swift") && !others.contains { path.hasPrefix($0) }
        }
        .map { Sources.File(path: $0, text: try String(contentsOf: directory.appending(path: $0), encoding: .utf8)) }
    }
}
