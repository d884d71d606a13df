// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The rules for code, in `latchkey lint`.
@Suite("latchkey lint and code")
struct LintCodeTests {
    private let place: LintPlace

    init() throws {
        place = try LintPlace()
        try place.write("let a = kSecAttrAccessibleAlways\n", "App/a.swift")
        try place.write("requests.get(u, verify=False)\n", "tool.py")
    }

    @Test("A finding of a rule has its place, its title and the rule's number")
    func finding() throws {
        let outcome = try place.lint(".")
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                App/a.swift:1:9: an item that is accessible always [C03]
                tool.py:1:1: a server is accepted without an evaluation of its certificate [C04]

                """)
        let sarif = try place.lint("--sarif", ".")
        #expect(sarif.output.contains("\"ruleId\" : \"C03\"") && sarif.output.contains("\"id\" : \"C04\""))
    }

    @Test("A comment with a reason allows a finding; one without a reason is a problem")
    func comments() throws {
        try place.write("let a = kSecAttrAccessibleAlways // latchkey-lint: allow C03 for a test\n", "App/a.swift")
        #expect(try place.report("App", status: 0).findings.isEmpty)
        try place.write("let a = kSecAttrAccessibleAlways // latchkey-lint: allow C03\n", "App/a.swift")
        let report = try place.report("App", status: 2)
        #expect(report.findings.map(\.kind) == ["C03"] && report.problems.map(\.file) == ["App/a.swift"])
        #expect(report.problems.first?.reason.hasPrefix("line 1: ") == true)
    }

    @Test("Swift that cannot be parsed in time is named, and the rest is scanned")
    func hostileSwift() throws {
        try place.write(String(repeating: "[", count: 200), "App/b.swift")
        try place.write("let a = kSecAttrAccessibleAlwaysThisDeviceOnly\n", "App/c.swift")
        let report = try place.report(".", status: 2)
        #expect(Set(report.findings.map(\.file)) == ["App/a.swift", "App/c.swift", "tool.py"])
        #expect(report.problems.map(\.file) == ["App/b.swift"])
        #expect(report.problems.first?.reason.contains("more than 5 seconds") == true)
    }

    @Test("Code that ends the parser is named; after eight such files no other is parsed, and each is named", .long)
    func endings() throws {
        for index in 0..<10 {
            try place.write(String(repeating: "[", count: 200), "b/\(index).swift")
        }
        try place.write("let a = kSecAttrAccessibleAlways\n", "c.swift")
        let report = try place.report("App", "b", "c.swift", status: 2)
        #expect(report.findings.map(\.file) == ["App/a.swift"])
        let reasons = report.problems.map { $0.reason.contains("8 other files could not be parsed") }
        #expect(reasons == [Bool](repeating: false, count: 8) + [true, true, true], "\(report.problems)")
    }

    @Test("Empty files and bytes that are not UTF-8 do not end the parser")
    func emptyFiles() throws {
        for index in 0..<10 { try place.write("", "b/\(index).swift") }
        let bytes = Array("let a = kSecAttrAccessibleAlways //".utf8) + [UInt8](repeating: 0xFF, count: 500_000)
        try Data(bytes).write(to: URL(filePath: "\(place.path)/c.swift"))
        let report = try place.report("b", "c.swift", status: 1)
        #expect(report.findings.map(\.kind) == ["C03"] && report.problems.isEmpty)
    }

    @Test("The configuration leaves out paths and rules, and says how many findings")
    func configuration() throws {
        try place.write("exclude:\n  - App/*\ndisable: [C04]\n", ".latchkeylint.yaml")
        let outcome = try place.lint(".")
        #expect(outcome.status == 0 && outcome.error.contains("1 of disabled rules, 1 file left out\n"), "\(outcome)")
        let left = try place.report(".", status: 0)
        #expect(left.disabled == 1 && left.excluded == 1)
        try place.write("disable:\n  - named-value\n", "other.yaml")
        #expect(try place.report("--config", "other.yaml", ".", status: 1).findings.count == 2)
        try place.write("", ".latchkeylint.yaml")
        #expect(try place.report(".", status: 1).findings.count == 2)
    }

    @Test(
        "A configuration that is not understood is refused",
        arguments: [
            "exclud: [a]", "disable: [C99]", "exclude: a", "exclude: {a: b}", "- a", "exclude: [", "a: &a [*a]",
            "exclude: !!binary 1",
        ])
    func invalidConfiguration(_ text: String) throws {
        try place.write(text, ".latchkeylint.yaml")
        let outcome = try place.lint(".")
        #expect(
            outcome.status == 206 && outcome.output.isEmpty && outcome.error.contains(".latchkeylint.yaml"),
            "\(outcome)")
    }

    @Test("A configuration that is named must exist")
    func missingConfiguration() throws {
        let outcome = try place.lint("--config", "missing.yaml", ".")
        #expect(outcome.status == 206 && outcome.error.contains("missing.yaml does not exist"))
    }

    @Test("Each rule has a page with the harm, the advice, the fix and the numbers of MASTG")
    func rules() throws {
        struct Entry: Decodable {
            let id: String
            let title: String
            let why: String?
            let tests: [String]?
        }
        let list = try place.lint("rules", "--json")
        let entries = try JSONDecoder().decode([Entry].self, from: Data(list.output.utf8))
        let rules = entries.filter { $0.why != nil }
        #expect(rules.count >= 15 && entries.contains { $0.id == "named-value" && $0.why == nil })
        for rule in rules {
            let page = try place.lint("rules", rule.id.lowercased())
            #expect(page.status == 0 && page.output.hasPrefix("# \(rule.id): \(rule.title)\n"))
            for test in rule.tests ?? [] { #expect(page.output.contains(test)) }
        }
        let unknown = try place.lint("rules", "C99")
        #expect(unknown.status == 206 && unknown.error.contains("hint: latchkey lint rules"))
    }
}
