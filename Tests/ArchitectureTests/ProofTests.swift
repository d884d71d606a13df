// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks that the proofs that the documents name exist: in the decisions, in Documentation/Proofs.md,
/// in THREAT-MODEL.md, and in the formats.
@Suite("Proofs in documents")
struct ProofTests {
    /// The part of a document that names proofs, with one space between words.
    struct Passage {
        let name: String
        let text: String

        init(_ name: String, _ text: some StringProtocol) {
            self.name = name
            self.text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }

    @Test("Every test that a document names exists")
    func tests() throws {
        let (suites, titles) = try Self.tests()
        var checked = 0
        for passage in try Self.passages() {
            for suite in passage.text.matches(of: /(?:^|[^"\w])([A-Z]\w*Tests)(?!\w)/).map({ String($0.1) }) {
                checked += 1
                #expect(suites.contains(suite), "\(passage.name) names \(suite), which does not exist")
            }
            for title in passage.text.matches(of: /"([^"]+)"/).map({ String($0.1) }) {
                checked += 1
                #expect(titles.contains(title), "\(passage.name) names a test that does not exist: \(title)")
            }
        }
        #expect(checked > 300)
    }

    @Test("Every target of make and every script that a document names as a proof exists")
    func commands() throws {
        let targets = try Makefiles.targets()
        for passage in try Self.passages() {
            for target in passage.text.matches(of: /`make ([a-z-]+)`/).map(\.1) {
                #expect(targets.contains(String(target)), "\(passage.name) names make \(target)")
            }
            for script in passage.text.matches(of: /`(Scripts\/[\w\/-]+)`/).map({ String($0.1) }) {
                let path = Sources.root.appending(path: script).path
                #expect(FileManager.default.fileExists(atPath: path), "\(passage.name) names \(script)")
            }
        }
    }

    @Test("Every row of THREAT-MODEL.md has a test, and its source files exist")
    func threats() throws {
        let files = Set(try Sources.all().map(\.name))
        let rows = try Self.threats()
        #expect(rows.count > 50)
        for row in rows {
            #expect(row.count == 4 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            for file in (row.dropFirst(2).first ?? "").matches(of: /`([\w+]+\.swift)`/).map({ String($0.1) }) {
                #expect(files.contains(file), "THREAT-MODEL.md names \(file), which does not exist")
            }
        }
    }

    @Test(
        "Every numbered requirement of a format is in the format's table of tests",
        arguments: [
            "audit-log", "backup", "cms-profile", "keychain-database", "pins", "protected-file", "secret-service",
            "transport-policy", "wire-protocol",
        ])
    func requirements(_ format: String) throws {
        let page = try Self.text("Documentation/Formats/\(format).md")
        let stated = Set(page.matches(of: /\*\*([A-Z]+-\d+)\*\*/).map { String($0.1) })
        let tested = Self.requirementRows(page).flatMap { row in
            row.prefix { $0 != "|" }.matches(of: /[A-Z]+-\d+/).map { String($0.0) }
        }
        #expect(!stated.isEmpty)
        #expect(Set(tested) == stated, "\(stated.symmetricDifference(tested).sorted())")
    }

    // MARK: Documents

    private static func passages() throws -> [Passage] {
        var passages = try DecisionTests.decisions().map {
            Passage($0.name, $0.text.components(separatedBy: "\n## Proof\n").last ?? "")
        }
        passages.append(Passage("Proofs.md", try lines(of: "Documentation/Proofs.md").joined(separator: "\n")))
        passages += try threats().map { Passage("THREAT-MODEL.md", $0.last ?? "") }
        for format in [
            "audit-log", "backup", "keychain-database", "pins", "protected-file", "secret-service", "transport-policy",
            "wire-protocol",
        ] {
            let rows = requirementRows(try text("Documentation/Formats/\(format).md"))
            passages += rows.map { Passage("\(format).md", $0) }
        }
        return passages
    }

    /// The cells of the rows of THREAT-MODEL.md's tables.
    private static func threats() throws -> [[String]] {
        try lines(of: "THREAT-MODEL.md").map { line in
            line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        .filter { $0.first != "Threat" && $0.first?.hasPrefix("---") == false }
    }

    /// The rows of a format's table of tests, without the first border.
    private static func requirementRows(_ page: String) -> [Substring] {
        let tables = page.components(separatedBy: "Test |\n|---|---|\n").dropFirst()
        return tables.flatMap { table in
            table.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("| ") }
        }
        .map { $0.dropFirst(2) }
    }

    /// The rows of all tables of a page.
    private static func lines(of path: String) throws -> [String] {
        try text(path).split(separator: "\n").filter { $0.hasPrefix("|") }.map(String.init)
    }

    // MARK: Tests

    /// The names of the targets and files of tests, and the titles in the files.
    private static func tests() throws -> (suites: Set<String>, titles: Set<String>) {
        var (suites, titles): (Set<String>, Set<String>) = ([], [])
        let folder = Sources.root.appending(path: "Tests").path
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) where path.hasSuffix(".swift") {
            suites.formUnion(path.dropLast(".swift".count).split(separator: "/").map(String.init))
            let text = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
            titles.formUnion(text.matches(of: /@Test\(\s*"([^"]*)"/).map { String($0.1) })
        }
        return (suites, titles)
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
    }
}
