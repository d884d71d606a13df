// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks the form of the pages in Documentation/Decisions.
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

    struct Page {
        let name: String
        let text: String
    }

    /// The pages of the decisions, by number.
    static func decisions() throws -> [Page] {
        let folder = "Documentation/Decisions"
        let names = try FileManager.default.contentsOfDirectory(atPath: Sources.root.appending(path: folder).path)
        return try names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map {
            Page(name: $0, text: try text("\(folder)/\($0)"))
        }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
    }
}
