// SPDX-License-Identifier: Apache-2.0

internal import CodeRules
internal import KeychainModel
internal import LinuxSystem
internal import SecretScan

/// A secret in the clear, or code that a rule names.
struct LintFinding {
    /// Of the kind of secret, or of the rule.
    let id: String
    let title: String
    let place: ScanPlace
    /// The name of the value; empty if it has none.
    let name: String
    /// Both ends of the secret; empty for code.
    let masked: String
    let fingerprint: String
    let replacement: SecretReplacement
    /// Of the file in a folder: its name in the place may be shown in another form.
    fileprivate(set) var path: FilePath?

    private static let copy = (id: "keychain-copy", title: "a copy of a keychain item")

    /// Every identifier, with its title.
    static let rules: [(id: String, title: String)] =
        CodeRule.all.map { (id: $0.id, title: $0.title) } + SecretKind.all.map { ($0.id, $0.title) } + [copy]

    /// The finding without its place.
    var text: String {
        let value = [name, masked].filter { !$0.isEmpty }.joined(separator: ": ")
        return value.isEmpty ? title : "\(title), \(value)"
    }

    init(_ finding: SecretFinding) {
        (id, title, place) = (finding.kind.id, finding.kind.title, finding.place)
        (name, masked, fingerprint) = (finding.name, finding.masked, finding.fingerprint)
        replacement = finding.replacement
    }

    /// - Parameter line: the text of the finding's line: the fingerprint stays when the line moves.
    init(_ finding: CodeFinding, file: String, line: some StringProtocol) {
        (id, title, name, masked) = (finding.rule.id, finding.rule.title, "", "")
        replacement = .impossible(reason: "it is code; 'latchkey lint rules \(finding.rule.id)' shows a fix")
        place = ScanPlace(file, line: finding.line, column: finding.column)
        fingerprint = SecretFinding.fingerprint([
            finding.rule.id, file, line.trimmingPrefix { $0.isWhitespace }.description,
        ])
    }
}

extension LintFinding {
    init(_ copy: FoundCopy) {
        (id, title) = Self.copy
        (place, name, masked) = (copy.place, copy.item.name, "")
        replacement = .impossible(reason: "it is a copy of an item")
        fingerprint = SecretFinding.fingerprint([id] + place.names + [name, copy.item.accessGroup])
    }
}

/// The findings and problems of one file.
struct LintFileReport {
    var findings: [LintFinding] = []
    var problems: [ScanProblem] = []
    private(set) var isExcluded = false

    private init() {}

    /// Of a file that the configuration leaves out.
    static var excluded: LintFileReport {
        var report = LintFileReport()
        report.isExcluded = true
        return report
    }

    init(problem reason: String, in name: String) { problems = [ScanProblem(names: [name], reason: reason)] }

    init(_ report: ScanReport) {
        (findings, problems) = (report.findings.map(LintFinding.init), report.problems)
    }

    mutating func setPath(_ path: FilePath) { for index in findings.indices { findings[index].path = path } }

    /// Adds the findings of the rules in a file that may be code.
    mutating func addCode(_ bytes: [UInt8], name: String, parser: SwiftParserProcess) {
        let report = CodeScanner.scan(bytes, name: name, swift: parser.findings)
        guard !report.findings.isEmpty || !report.problems.isEmpty else { return }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for finding in report.findings {
            let line = lines.indices.contains(finding.line - 1) ? lines[finding.line - 1] : ""
            findings.append(LintFinding(finding, file: name, line: line))
        }
        problems += report.problems.map { problem in
            ScanProblem(
                names: [name],
                reason: problem.line.map { "line \($0): \(problem.reason)" }
                    ?? "the rules for code were not applied: \(problem.reason)")
        }
    }
}
