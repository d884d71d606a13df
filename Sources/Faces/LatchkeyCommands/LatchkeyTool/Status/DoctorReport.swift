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
    }

    init(_ findings: [KeychainFinding]) {
        healthy = findings.allSatisfy(\.isHealthy)
        self.findings = findings.map {
            Finding(subject: $0.subject, healthy: $0.isHealthy, detail: $0.detail, hint: $0.hint)
        }
    }

    /// The report as text: one line per finding, followed by its hint.
    var text: TerminalText {
        findings.map { finding in
            let line: TerminalText =
                "\(finding.healthy ? "ok     " : "WRONG  ")  \(finding.subject): \(finding.detail)\n"
            return line + (finding.hint.map { "         hint: \($0)\n" } ?? "")
        }.joined()
    }
}
