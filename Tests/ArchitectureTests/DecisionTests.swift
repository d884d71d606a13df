// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks the form of the pages in Documentation/Decisions, and that every proof that they and
/// Documentation/Proofs.md name exists.
@Suite("Decisions")
struct DecisionTests {
    @Test("Decisions are numbered without gaps, and the list names each of them with its title")
    func list() throws {
        let pages = try Self.decisions()
        let list = try Self.text("Documentation/Decisions/README.md")
        var expected: [String] = []
        for (index, page) in pages.enumerated() {
            let digits = String(index + 1)
            let number = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            let title = try #require(page.text.split(separator: "\n").first)
            #expect(page.name.hasPrefix("\(number)-"), "\(page.name) is not number \(number)")
            #expect(title.hasPrefix("# \(number). "), "\(page.name)")
            expected.append("- [\(number)](\(page.name)) \(title.dropFirst("# 0000. ".count))")
        }
        let entries = list.split(separator: "\n").filter { $0.hasPrefix("- [") }.map(String.init)
        #expect(!pages.isEmpty && entries.sorted() == expected)
    }

    @Test("Every decision has a context, a decision, a consequence and a proof, in this order, and none is empty")
    func sections() throws {
        for page in try Self.decisions() {
            let sections = page.text.components(separatedBy: "\n## ").dropFirst()
            let names = sections.map { $0.prefix { $0 != "\n" } }
            #expect(names == ["Context", "Decision", "Consequence", "Proof"], "\(page.name)")
            for section in sections {
                #expect(section.split(separator: "\n").count > 1, "\(page.name) has an empty section: \(section)")
            }
        }
    }

    @Test("Every test, target of make and script that a decision or Documentation/Proofs.md names exists")
    func proofs() throws {
        let tests = try Self.tests()
        let makefile = try Self.text("Makefile")
        var checked = 0
        for (name, text) in try Self.namedProofs() {
            for suite in text.matches(of: /`(\w+Tests)\b/).map({ String($0.1) }) {
                checked += 1
                #expect(tests.suites.contains(suite), "\(name) names \(suite), which does not exist")
            }
            for title in text.matches(of: /"([^"]+)"/).map({ String($0.1) }) {
                checked += 1
                #expect(tests.titles.contains(title), "\(name) names a test that does not exist: \(title)")
            }
            for target in text.matches(of: /`make ([a-z-]+)`/).map(\.1) {
                #expect(makefile.contains("\n\(target):"), "\(name) names make \(target), which does not exist")
            }
            for script in text.matches(of: /`(Scripts\/[\w-]+)`/).map({ String($0.1) }) {
                #expect(FileManager.default.fileExists(atPath: Sources.root.appending(path: script).path), "\(script)")
            }
        }
        #expect(checked > 100)
    }

    private struct Page {
        let name: String
        let text: String
    }

    /// The pages of the decisions, by number.
    private static func decisions() throws -> [Page] {
        let folder = "Documentation/Decisions"
        let names = try FileManager.default.contentsOfDirectory(atPath: Sources.root.appending(path: folder).path)
        return try names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map {
            Page(name: $0, text: try text("\(folder)/\($0)"))
        }
    }

    /// The text of each page that names proofs, with one space between words.
    private static func namedProofs() throws -> [(name: String, text: String)] {
        let pages = try decisions().map { ($0.name, $0.text.components(separatedBy: "\n## Proof\n").last ?? "") }
        let table = try text("Documentation/Proofs.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        return (pages + [("Proofs.md", table.joined(separator: "\n"))]).map { name, text in
            (name, text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
    }

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
