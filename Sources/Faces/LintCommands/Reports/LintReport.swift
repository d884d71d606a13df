// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretScan

/// The findings and problems of all files.
struct LintReport {
    private(set) var findings: [SecretFinding] = []
    private(set) var problems: [ScanProblem] = []
    private(set) var files = 0
    /// The number of findings that the baseline has.
    private(set) var known = 0
    private let baseline: LintBaseline?

    init(known baseline: LintBaseline?) { self.baseline = baseline }

    mutating func add(_ report: ScanReport) {
        files += 1
        problems += report.problems
        for finding in report.findings {
            if baseline?.contains(finding) == true { known += 1 } else { findings.append(finding) }
        }
    }

    /// 0, 1 for findings, 2 if something was not scanned.
    var exitValue: Int32 { problems.isEmpty ? findings.isEmpty ? 0 : 1 : 2 }

    // MARK: Text

    var text: TerminalText {
        findings.map { finding -> TerminalText in
            let name: TerminalText = finding.name.isEmpty ? "" : " \(TerminalText(finding.name, maxLength: 100)):"
            return
                "\(Self.place(finding.place)): \(finding.kind.title),\(name) \(TerminalText(finding.masked, maxLength: 100)) [\(finding.kind.id)]\n"
        }.joined()
    }

    /// The problems and the counts, for standard error.
    var summary: TerminalText {
        let lines = problems.map { problem -> TerminalText in
            "not scanned: \(Self.names(problem.names)): \(TerminalText(problem.reason, maxLength: 400))\n"
        }
        let left: TerminalText = known == 0 ? "" : ", \(known) in the baseline"
        let (found, scanned): (TerminalText, TerminalText) = (
            findings.count == 1 ? "1 finding" : "\(findings.count) findings", files == 1 ? "1 file" : "\(files) files"
        )
        return lines.joined() + "\(found) in \(scanned)\(left)\n"
    }

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

            init(_ finding: SecretFinding) {
                (kind, title, name) = (finding.kind.id, finding.kind.title, finding.name)
                (masked, fingerprint) = (finding.masked, finding.fingerprint)
                (file, inside) = (finding.place.names.first ?? "", Array(finding.place.names.dropFirst()))
                (encodings, line, column) = (finding.place.encodings, finding.place.line, finding.place.column)
            }
        }

        struct Problem: Encodable {
            let file: String
            let inside: [String]
            let reason: String
        }

        let findings: [Finding]
        let problems: [Problem]
        let files: Int
        let known: Int
    }

    var json: JSON {
        JSON(
            findings: findings.map(JSON.Finding.init),
            problems: problems.map {
                JSON.Problem(file: $0.names.first ?? "", inside: Array($0.names.dropFirst()), reason: $0.reason)
            },
            files: files, known: known)
    }
}
