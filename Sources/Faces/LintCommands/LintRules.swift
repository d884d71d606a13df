// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CodeRules
internal import LatchkeyCommands
internal import LinuxSystem
internal import SecretScan

/// `latchkey lint rules`.
struct LintRules: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Explain the rules for code, and list the kinds of secrets.",
        discussion: """
            Without an identifier, lists every rule and every kind. With one, prints why the rule exists, what to do instead, \
            and code that does it.

            EXAMPLES:
              latchkey lint rules
              latchkey lint rules C02
              latchkey lint rules --json | jq -r '.[].id'
            """)

    @Flag(help: "Print JSON, an array.")
    var json = false

    @Argument(help: "The identifier of a rule, such as C02.", completion: .list(CodeRule.all.map(\.id)))
    var rule: String?

    private struct Entry: Encodable {
        let id: String
        let title: String
        var why: String?
        var advice: String?
        var fix: String?
        var tests: [String]?
        var languages: [String]?

        init(_ kind: SecretKind) { (id, title) = (kind.id, kind.title) }

        init(_ rule: CodeRule) {
            (id, title) = (rule.id, rule.title)
            (why, advice, fix, tests) = (rule.why, rule.advice, rule.fix, rule.tests)
            languages = rule.languages.map(\.rawValue).sorted()
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        guard let rule else {
            let entries = CodeRule.all.map { Entry($0) } + SecretKind.all.map { Entry($0) }
            if json { return try session.write(JSONText.of(entries)) }
            return try session.write(TerminalText(lines: entries.map { "\($0.id)  \($0.title)\n" }.joined()))
        }
        guard let found = CodeRule(id: rule.uppercased()) else {
            throw .parameter("unknown rule \(rule)", hint: "latchkey lint rules lists them")
        }
        if json { return try session.write(JSONText.of([Entry(found)])) }
        try session.write(TerminalText(lines: found.page))
    }
}

extension CodeRule {
    /// The page of the rule, in Markdown.
    var page: String {
        """
        # \(id): \(title)

        \(why)

        Instead: \(advice)

        ```swift
        \(fix)
        ```

        Languages: \(languages.map(\.rawValue).sorted().joined(separator: ", ")). Tests of MASTG: \(tests.joined(separator: ", ")).
        A comment "latchkey-lint: allow \(id) REASON" in the line or the line before it suppresses the finding.

        """
    }
}
