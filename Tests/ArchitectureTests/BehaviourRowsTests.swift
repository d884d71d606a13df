// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks Documentation/BehaviourRows.md, the list of the tests for each row of the behavior specification.
@Suite("Behavior rows")
struct BehaviourRowsTests {
    private let page: [(row: String, state: String, note: String)]

    init() throws {
        let text = try String(
            contentsOf: Sources.root.appending(path: "Documentation/BehaviourRows.md"), encoding: .utf8)
        page = text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 3, cells[0].wholeMatch(of: /T\d{3}/) != nil else { return nil }
            return (cells[0], cells[1], cells[2])
        }
    }

    @Test("Each of the 264 rows is listed once, with a valid state")
    func complete() {
        #expect(page.map(\.row) == (1...264).map { "T" + String(repeating: "0", count: 3 - "\($0)".count) + "\($0)" })
        for entry in page {
            #expect(["covered", "not applicable"].contains(entry.state), "\(entry.row)")
            #expect(!entry.note.isEmpty, "\(entry.row)")
        }
    }

    @Test("The rows that are listed as covered are those that titles of tests cite")
    func agreesWithTests() throws {
        let cited = try citedRows()
        let covered = Set(page.filter { $0.state == "covered" }.map(\.row))
        #expect(covered.subtracting(cited).sorted() == [], "listed, but no test says so")
        #expect(cited.subtracting(covered).sorted() == [], "tested, but not listed")
    }

    /// Returns the rows in the titles of all tests; `T014 to T017` means four rows.
    private func citedRows() throws -> Set<String> {
        var rows: Set<String> = []
        let tests = Sources.root.appending(path: "Tests").path
        for path in try FileManager.default.subpathsOfDirectory(atPath: tests) where path.hasSuffix("Tests.swift") {
            guard !path.hasPrefix("ArchitectureTests/") else { continue }
            let text = try String(contentsOfFile: "\(tests)/\(path)", encoding: .utf8)
            for title in text.matches(of: /@Test\(\s*"([^"]*)"/).map(\.1) {
                for match in title.matches(of: /T(\d{3})(?: to T(\d{3}))?/) {
                    guard let first = Int(match.1), let last = match.2.map({ Int($0) }) ?? first, first <= last else {
                        continue
                    }
                    rows.formUnion(
                        (first...last).map { "T" + String(repeating: "0", count: 3 - "\($0)".count) + "\($0)" })
                }
            }
        }
        return rows
    }
}
