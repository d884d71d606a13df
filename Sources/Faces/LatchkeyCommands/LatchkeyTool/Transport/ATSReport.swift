// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import TransportPolicy

/// The report of `latchkey ats lint`, in the shape of its JSON.
struct ATSReport: Encodable {
    var file: String
    /// Whether there is neither an error nor a warning that was not allowed.
    var passed: Bool
    var findings: [Finding]
    /// `system` or `built-in`.
    var publicSuffixes: String

    struct Finding: Encodable {
        /// `error`, `warning`, `note` or `allowed`.
        var severity: String
        var kind: String
        /// The keys below `NSAppTransportSecurity`, separated by slashes.
        var path: String
        var problem: String
        var hint: String?
    }

    init(_ file: String, _ findings: [ATSFinding], allowed: Set<ATSFinding.Kind>, _ source: PublicSuffixes.Source) {
        self.file = file
        self.findings = findings.map { finding in
            let isAllowed = finding.severity == .warning && allowed.contains(finding.kind)
            return Finding(
                severity: isAllowed ? "allowed" : finding.severity.rawValue, kind: finding.kind.rawValue,
                path: finding.path, problem: finding.problem, hint: finding.hint)
        }
        passed = self.findings.allSatisfy { $0.severity != "error" && $0.severity != "warning" }
        publicSuffixes = source.rawValue
    }

    /// The report as text: one line per finding, followed by its hint.
    var text: TerminalText {
        guard !findings.isEmpty else { return "ok       \(file): nothing found\n" }
        return findings.map { finding in
            let place = finding.path.isEmpty ? "NSAppTransportSecurity" : finding.path
            let severity = finding.severity.padding(to: 8)
            let line: TerminalText = "\(severity) \(place): \(finding.problem) (\(finding.kind))\n"
            return line + (finding.hint.map { "         hint: \($0)\n" } ?? "")
        }.joined()
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}
