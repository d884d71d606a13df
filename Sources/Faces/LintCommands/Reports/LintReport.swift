// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretScan

/// The findings and problems of all files.
struct LintReport {
    private(set) var findings: [LintFinding] = []
    private(set) var problems: [ScanProblem] = []
    private(set) var files = 0
    /// The number of findings that the baseline has.
    private(set) var known = 0
    /// The number of findings of rules that the configuration disables.
    private(set) var disabled = 0
    /// The number of files that the configuration leaves out.
    private(set) var excluded = 0
    /// Of the comparison with the keychain, if there was one.
    private(set) var keychain: CopyReport?
    private let baseline: LintBaseline?
    private let configuration: LintConfiguration

    init(known baseline: LintBaseline?, _ configuration: LintConfiguration) {
        (self.baseline, self.configuration) = (baseline, configuration)
    }

    mutating func add(_ report: LintFileReport) {
        guard !report.isExcluded else { return excluded += 1 }
        files += 1
        problems += report.problems
        for finding in report.findings { add(finding) }
    }

    /// Adds the copies of keychain items. If the comparison has failed, a part of the files was not compared.
    mutating func add(_ result: (copies: [FoundCopy], outcome: Result<CopyReport, KeychainError>)) {
        for copy in result.copies { add(LintFinding(copy)) }
        switch result.outcome {
        case .success(let report): keychain = report
        case .failure(let error): problems.append(ScanProblem(names: ["keychain"], reason: error.description))
        }
    }

    private mutating func add(_ finding: LintFinding) {
        if configuration.disables(finding) {
            disabled += 1
        } else if baseline?.contains(finding) == true {
            known += 1
        } else {
            findings.append(finding)
        }
    }

    /// 0, 1 for findings, 2 if something was not scanned.
    var exitValue: Int32 { problems.isEmpty ? findings.isEmpty ? 0 : 1 : 2 }

    // MARK: Text

    var text: TerminalText {
        findings.map { "\(Self.line($0))\n" }.joined()
    }

    static func line(_ finding: LintFinding) -> TerminalText {
        "\(place(finding.place)): \(TerminalText(finding.text, maxLength: 300)) [\(finding.id)]"
    }

    /// The problems and the counts, for standard error.
    var summary: TerminalText {
        let left: TerminalText =
            (known == 0 ? "" : ", \(known) in the baseline") + (disabled == 0 ? "" : ", \(disabled) of disabled rules")
            + (excluded == 0 ? "" : ", \(Self.count(excluded, "file")) left out")
        return Self.lines(problems, verb: "not scanned")
            + "\(Self.count(findings.count, "finding")) in \(Self.count(files, "file"))\(left)\n"
            + (keychain.map(Self.summary) ?? "")
    }

    static func lines(_ problems: [ScanProblem], verb: TerminalText) -> TerminalText {
        problems.map { "\(verb): \(names($0.names)): \(TerminalText($0.reason, maxLength: 400))\n" }.joined()
    }

    private static func summary(of keychain: CopyReport) -> TerminalText {
        let left = [
            (keychain.locked, "locked"), (keychain.guarded, "with an access control"),
            (keychain.short, "shorter than \(CopyReport.minLength) bytes"), (keychain.common, "common passwords"),
            (keychain.long, "longer than \(CopyReport.maxLength) bytes"), (keychain.damaged, "damaged"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let items = count(keychain.compared, "keychain item")
        return "compared with \(items)\(left.isEmpty ? "" : "; left out: \(left.joined(separator: ", "))")\n"
    }

    static func count(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }

    private static func place(_ place: ScanPlace) -> TerminalText {
        let encodings: TerminalText = place.encodings.isEmpty ? "" : " (\(place.encodings.joined(separator: ", ")))"
        return "\(names(place.names)):\(place.line):\(place.column)\(encodings)"
    }

    private static func names(_ names: [String]) -> TerminalText {
        TerminalText(names.joined(separator: " > "), maxLength: 1000)
    }

    // MARK: JSON

    /// The shape of `--json`.
    struct JSON: Encodable {
        struct Finding: Encodable {
            let kind: String
            let title: String
            let file: String
            /// The names of the documents in the file, the outermost first.
            let inside: [String]
            let encodings: [String]
            let line: Int
            let column: Int
            let name: String
            let masked: String
            let fingerprint: String

            init(_ finding: LintFinding) {
                (kind, title, name) = (finding.id, finding.title, finding.name)
                (masked, fingerprint) = (finding.masked, finding.fingerprint)
                (file, inside) = (finding.place.names.first ?? "", Array(finding.place.names.dropFirst()))
                (encodings, line, column) = (finding.place.encodings, finding.place.line, finding.place.column)
            }
        }

        struct Problem: Encodable {
            let file: String
            let inside: [String]
            let reason: String

            init(_ problem: ScanProblem) {
                (file, inside) = (problem.names.first ?? "", Array(problem.names.dropFirst()))
                reason = problem.reason
            }
        }

        let findings: [Finding]
        let problems: [Problem]
        let files: Int
        /// The numbers of findings that the baseline has, of findings of disabled rules, and of files that are left out.
        let known: Int
        let disabled: Int
        let excluded: Int
        let keychain: Keychain?

        /// The numbers of items that were compared with the files, and of those that were left out.
        struct Keychain: Encodable {
            let compared: Int
            let locked: Int
            let withAccessControl: Int
            let tooShort: Int
            let common: Int
            let tooLong: Int
            let damaged: Int

            init(_ report: CopyReport) {
                (compared, locked, withAccessControl) = (report.compared, report.locked, report.guarded)
                (tooShort, common, tooLong, damaged) = (report.short, report.common, report.long, report.damaged)
            }
        }
    }

    var json: JSON {
        JSON(
            findings: findings.map(JSON.Finding.init),
            problems: problems.map(JSON.Problem.init), files: files, known: known, disabled: disabled,
            excluded: excluded,
            keychain: keychain.map(JSON.Keychain.init))
    }
}
