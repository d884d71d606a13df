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
        /// A wait that contains this has an end.
        var end: String?
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
                pattern: #"readDataToEndOfFile\(\)"#, exceptions: ["SecretBytesTests.swift", "Worker.swift"],
                instead: "awaitEnd()"),
            Rule(pattern: #"\.availableData\b"#, instead: "awaitContent()"),
            Rule(
                pattern: #"\b(?!self)\w+\.wait\(\)"#, context: #"Dispatch(Semaphore|Group)\("#,
                instead: "awaitSignal(), or eventually { group.wait(timeout: .now()) == .success }"),
            // The replay of fuzzers' cases has an end of its own, and is built without these waits. The tested code
            // cancels a question, and the kernel ends a process that was killed.
            Rule(
                pattern: loop, end: loopEnd,
                exceptions: ["WireBus.swift", "SpawnedProcess.swift"], instead: "eventually { … }"),
            // `while :` is a program that hangs, and that the test ends.
            Rule(pattern: #"\b(until|while) [^:\n][^;\n]*[;\n]\s*do\s+sleep"#, instead: "a loop that counts"),
        ])
    func limits(_ rule: Rule) throws {
        let (wait, context) = (try Regex(rule.pattern), try Regex(rule.context))
        let end = try rule.end.map { try Regex($0) }
        let files = try Self.files()
        #expect(files.count > 500)
        for file in files where !rule.exceptions.contains(file.name) {
            guard rule.context.isEmpty || file.withoutComments.contains(context) else { continue }
            for found in file.withoutComments.matches(of: wait) {
                if let end, file.withoutComments[found.range].contains(end) { continue }
                Issue.record("\(file.path): \(file.withoutComments[found.range]): expected \(rule.instead)")
            }
        }
    }

    @Test(
        "The rule for loops finds those of several lines, and leaves those with an end",
        arguments: [
            ("while !isReady { usleep(1000) }", true), ("while !isReady {\n    poll()\n    usleep(1000)\n}", true),
            ("while !isReady, now < end { usleep(1000) }", false),
            ("while true {\n    if wait.isOver { break }\n    usleep(1000)\n}", false),
            ("while isReady {\n    poll()\n}\nusleep(1000)", false),
        ])
    func loops(_ text: String, _ isFound: Bool) throws {
        let found = text.firstMatch(of: try Regex(Self.loop))
        let end = try Regex(Self.loopEnd)
        #expect(found.map { !text[$0.range].contains(end) } ?? false == isFound)
    }

    private static let loop = #"while [^\n{]*\{(?:[^{}]|\{[^{}]*\})*?\busleep\("#
    // Not `\b`: a point within a word is no boundary of words.
    private static let loopEnd = #"[^A-Za-z](end|limit|rest|stop|isOver|isCancelled)[^A-Za-z]"#

    /// The files of tests and of the processes that tests start, also scripts, without these rules.
    private static func files() throws -> [Sources.File] {
        let directory = Sources.root.appending(path: "Tests")
        let kinds: Set = ["swift", "recipe", "py", "c", "sh"]
        return try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { path in
            kinds.contains((path as NSString).pathExtension) && !path.hasPrefix("ArchitectureTests/")
        }
        .map { Sources.File(path: $0, text: try String(contentsOf: directory.appending(path: $0), encoding: .utf8)) }
    }
}
