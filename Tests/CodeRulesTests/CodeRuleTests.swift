// SPDX-License-Identifier: Apache-2.0

@testable import CodeRules
import Testing

/// Code that a rule names, and code beside it that it does not.
struct CodeExample: Sendable, CustomStringConvertible {
    let rule: String
    let language: CodeLanguage
    let bad: String
    let good: String

    var description: String { "\(rule) \(language.rawValue)" }

    init(_ rule: String, _ language: CodeLanguage, bad: String, good: String) {
        (self.rule, self.language, self.bad, self.good) = (rule, language, bad, good)
    }

    var fileName: String {
        switch language {
        case .swift: "a.swift"
        case .objectiveC: "a.m"
        case .kotlin: "a.kt"
        case .java: "A.java"
        case .javaScript: "a.js"
        case .python: "a.py"
        case .go: "a.go"
        case .xml: "Info.plist"
        }
    }
}

@Suite("Rules for code")
struct CodeRuleTests {
    private func rules(_ code: String, _ name: String) -> [String] {
        CodeScanner.scan(Array(code.utf8), name: name).findings.map(\.rule.id)
    }

    @Test("Each rule names bad code and not the good code beside it", arguments: CodeExample.all)
    func examples(_ example: CodeExample) {
        #expect(rules(example.bad, example.fileName).contains(example.rule), "\(example.bad)")
        #expect(!rules(example.good, example.fileName).contains(example.rule), "\(example.good)")
    }

    @Test("Every rule has an example in every language that it checks", arguments: CodeRule.all)
    func complete(_ rule: CodeRule) {
        let languages = Set(CodeExample.all.filter { $0.rule == rule.id }.map(\.language))
        #expect(languages == rule.languages)
        #expect(
            rule.id.wholeMatch(of: /C\d\d/) != nil && !rule.why.isEmpty && !rule.advice.isEmpty && !rule.fix.isEmpty)
        #expect(rule.tests.allSatisfy { $0.wholeMatch(of: /MASTG-TEST-\d{4}/) != nil } && !rule.tests.isEmpty)
        #expect(CodeRule(id: rule.id) == rule)
    }

    @Test("A comment with a reason suppresses a rule in its line and the next one, and nothing else")
    func suppressed() {
        let call = "SecItemDelete(query)"
        #expect(rules("func f() {\n    \(call)\n    g()\n}", "a.swift") == ["C15"])
        #expect(
            rules("func f() {\n    \(call)  // latchkey-lint: allow C15 it may be missing\n    g()\n}", "a.swift")
                .isEmpty)
        #expect(
            rules("func f() {\n    // latchkey-lint: allow C15 it may be missing\n    \(call)\n    g()\n}", "a.swift")
                .isEmpty)
        #expect(
            rules("func f() {\n    // latchkey-lint: allow C03 another rule\n    \(call)\n    g()\n}", "a.swift") == [
                "C15"
            ])
        for comment in [
            "// latchkey-lint: allow C15", "/* latchkey-lint: allow C15 */", "// latchkey-lint: allow C99 a reason",
        ] {
            let report = CodeScanner.scan(Array("func f() {\n    \(call) \(comment)\n    g()\n}".utf8), name: "a.swift")
            #expect(report.problems.map(\.line) == [2], "\(comment)")
        }
    }

    @Test(
        "Code beside constants is no finding",
        arguments: [
            #"return "<OCSPNonce(nonce={0.nonce!r})>".format(self)"#, #"salt = b"\x00" * algorithm.digest_size"#,
            "key_salt = 'django.contrib.messages'", "def get_cookie_signer(salt='django.core.signing'):", "salt = ''",
            "nonce = request.args['nonce']", "iv == b'0123456789abcdef'", "salt = os.urandom(16)",
        ])
    func ordinary(_ line: String) { #expect(rules(line, "a.py").isEmpty) }

    @Test("A finding has the line and the column of the code")
    func place() throws {
        let report = CodeScanner.scan(Array("let a = 1\n    let b = kSecAttrAccessibleAlways\n".utf8), name: "a.swift")
        let finding = try #require(report.findings.first)
        #expect(finding.line == 2 && finding.column == 13 && finding.rule.id == "C03")
    }

    @Test("Code that is deep, cut off, of odd characters, or no code at all ends with a report")
    func hostile() {
        let texts = [
            String(repeating: "(", count: 2000), String(repeating: "{ if a ", count: 500),
            String(repeating: "a.b().", count: 2000), String(repeating: "if a {} else ", count: 1000),
            "func f( { SecItemAdd(", "\"\\(\"\\(\"",
            String(repeating: "\u{0}\u{FFFD}é\u{202E}", count: 1000),
            "let iv = [\(String(repeating: "0, ", count: 5000))0]",
        ]
        for text in texts {
            for language in CodeLanguage.allCases {
                let name = CodeExample("C01", language, bad: "", good: "").fileName
                #expect(CodeScanner.scan(Array(text.utf8), name: name).findings.count < 10)
            }
        }
        let long = CodeScanner.scan([UInt8](repeating: 0x61, count: CodeScanner.maxLength + 1), name: "a.swift")
        #expect(long.findings.isEmpty && long.problems.count == 1)
        #expect(CodeScanner.scan([0xFF, 0xFE, 0x80], name: "a.swift").findings.isEmpty)
        #expect(CodeScanner.scan(Array("kSecAttrAccessibleAlways".utf8), name: "a.txt").findings.isEmpty)
    }
}
