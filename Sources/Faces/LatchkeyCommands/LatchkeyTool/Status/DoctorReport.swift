// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The report of `latchkey doctor`, in the shape of its JSON.
struct DoctorReport: Encodable {
    var healthy: Bool
    var findings: [Finding]

    struct Finding: Encodable {
        var subject: String
        var healthy: Bool
        var detail: String
        var hint: String?
        /// The steps that lead back to the items; left out if there are none.
        var steps: [String]?
    }

    init(_ findings: [KeychainFinding]) {
        healthy = findings.allSatisfy(\.isHealthy)
        self.findings = findings.map {
            Finding(
                subject: $0.subject, healthy: $0.isHealthy, detail: $0.detail, hint: $0.hint,
                steps: $0.steps.isEmpty ? nil : $0.steps)
        }
    }

    /// The report as text: one line per finding, followed by its hint and its steps.
    var text: TerminalText {
        findings.map { finding in
            let line: TerminalText =
                "\(finding.healthy ? "ok     " : "WRONG  ")  \(finding.subject): \(finding.detail)\n"
            let hint: TerminalText = finding.hint.map { "         hint: \($0)\n" } ?? ""
            let steps = (finding.steps ?? []).enumerated().map { number, step -> TerminalText in
                "         \(number + 1). \(step)\n"
            }
            return line + hint + steps.joined()
        }.joined()
    }
}
