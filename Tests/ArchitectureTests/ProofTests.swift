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
        let (suites, functions, titles) = try Self.tests()
        var checked = 0
        for passage in try Self.passages() {
            for suite in passage.text.matches(of: /(?:^|[^"\w])([A-Z]\w*Tests)(?!\w)/).map({ String($0.1) }) {
                checked += 1
                #expect(suites.contains(suite), "\(passage.name) names \(suite), which does not exist")
            }
            for function in passage.text.matches(of: /`([A-Z]\w*Tests\.\w+)`/).map({ String($0.1) }) {
                checked += 1
                #expect(functions.contains(function), "\(passage.name) names \(function), which does not exist")
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

    @Test("THREAT-MODEL.md has at most 40 rows of two lines, each with a test")
    func threats() throws {
        let rows = try Self.threats()
        #expect(!rows.isEmpty && rows.count <= 40)
        for row in rows {
            #expect(row.count == 3 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            #expect(row.joined(separator: " | ").count <= 240, "longer than two lines: \(row.first ?? "")")
            #expect(row.last?.contains(/Tests\b/) == true, "names no test: \(row.first ?? "")")
        }
    }

    @Test("Every section of README, Compatibility and the guides has its tests, in the order of the page")
    func sections() throws {
        let guides = try FileManager.default.contentsOfDirectory(
            atPath: Sources.root.appending(path: "Documentation/Guides").path)
        let paths =
            ["README.md", "Documentation/Compatibility.md"]
            + guides.filter { $0 != "README.md" }.sorted().map { "Documentation/Guides/\($0)" }
            + ["Documentation/URLSession.md", "Documentation/Redirections.md"]
        var expected: [String] = []
        for path in paths {
            let page = URL(filePath: path).deletingPathExtension().lastPathComponent
            let headings = try Self.text(path).split(separator: "\n").filter { $0.hasPrefix("## ") }
            expected +=
                ["\(page): the beginning"] + headings.map { "\(page): \($0.dropFirst(3).replacing("`", with: ""))" }
        }
        let rows = try Self.pages()
        #expect(rows.map { $0.first ?? "" } == expected)
        for row in rows {
            let isProved = row.count == 3 && row[1].contains(/`(\w+Tests(?!\w)|make |Scripts\/)/)
            #expect(isProved || row.dropFirst() == ["–", "–"], "\(row)")
        }
    }

    @Test("Every attack of Proofs.md has its code and a test")
    func attacks() throws {
        let files = Set(try Sources.all().map(\.name))
        let rows = try Self.attacks()
        #expect(rows.count > 200)
        for row in rows {
            #expect(row.count == 3 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            for file in (row.dropFirst().first ?? "").matches(of: /`([\w+]+\.swift)`/).map({ String($0.1) }) {
                #expect(files.contains(file), "Proofs.md names \(file), which does not exist")
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
        let promises = cells(of: try text("Documentation/Proofs.md").components(separatedBy: "\n## Pages\n")[0])
        passages += promises.map { Passage("Proofs.md", $0.last ?? "") }
        passages += try pages().map { Passage("Proofs.md", $0.dropFirst().first ?? "") }
        passages += try attacks().map { Passage("Proofs.md", $0.last ?? "") }
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

    /// The rows of THREAT-MODEL.md: threat, defense, test.
    private static func threats() throws -> [[String]] {
        // A group of rows has a heading in the first cell.
        cells(of: try text("THREAT-MODEL.md")).filter { $0.first?.hasPrefix("**") == false }
    }

    /// The rows of the pages in Proofs.md: section, tests, claims without a test.
    private static func pages() throws -> [[String]] {
        let parts = try text("Documentation/Proofs.md").components(separatedBy: "\n## Pages\n")
        return cells(of: parts.last?.components(separatedBy: "\n## Attacks\n").first ?? "")
    }

    /// The rows of the attacks in Proofs.md: attack, files, tests.
    private static func attacks() throws -> [[String]] {
        cells(of: try text("Documentation/Proofs.md").components(separatedBy: "\n## Attacks\n").last ?? "")
    }

    /// The cells of all tables of a page, without the heads.
    private static func cells(of page: String) -> [[String]] {
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("|") }
        let heads = Set(rows.indices.dropFirst().filter { rows[$0].hasPrefix("|---") }.flatMap { [$0 - 1, $0] })
        return rows.indices.filter { !heads.contains($0) }.map { index in
            rows[index].dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// The rows of a format's table of tests, without the first border.
    private static func requirementRows(_ page: String) -> [Substring] {
        let tables = page.components(separatedBy: "Test |\n|---|---|\n").dropFirst()
        return tables.flatMap { table in
            table.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("| ") }
        }
        .map { $0.dropFirst(2) }
    }

    // MARK: Tests

    /// The names of the targets and files of tests; the functions of each file, as `SomeTests.function`; the titles.
    private static func tests() throws -> (suites: Set<String>, functions: Set<String>, titles: Set<String>) {
        var (suites, functions, titles): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        let folder = Sources.root.appending(path: "Tests").path
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) where path.hasSuffix(".swift") {
            suites.formUnion(path.dropLast(".swift".count).split(separator: "/").map(String.init))
            let text = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
            titles.formUnion(text.matches(of: /@Test\(\s*"([^"]*)"/).map { String($0.1) })
            // An extension of a suite has a file of its own: SoakTests+OpenPrompts.swift.
            let suite = path.split(separator: "/").last?.split(separator: /[.+]/).first ?? ""
            let found = text.matches(of: /@Test\b.*?\bfunc `?(\w+)/.dotMatchesNewlines())
            functions.formUnion(found.map { "\(suite).\($0.1)" })
        }
        return (suites, functions, titles)
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
    }
}
