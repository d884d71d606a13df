// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// A verdict with the attempts that led to it, in the shape of its JSON.
struct TrustReport: Encodable {
    /// Whether the chain is trusted, and violates nothing.
    var isTrusted: Bool
    /// Apple's name for the status of the first failure; nil if the chain is trusted.
    var status: String?
    /// The chain, leaf first.
    var chain: [String]
    var failures: [Failure]
    /// The chains that were tried before the result, or all of them if none is trusted.
    var attempts: [Attempt]
    /// The requirements beside trust, one sentence each; empty if no server is named.
    var applied: [String]
    /// The violations of these requirements by the certificates: pins, and the strength of the leaf.
    var violations: [String]
    /// Why revocation evidence is missing or was not used.
    var revocationProblems: [String]

    struct Failure: Encodable {
        var rule: String
        var status: String
        /// The index of the certificate in the chain, from 0.
        var index: Int
        var explanation: String

        init(_ failure: TrustFailure) {
            rule = failure.rule.rawValue
            status = failure.rule.status.name ?? "\(failure.rule.status.rawValue)"
            index = failure.index
            explanation = failure.explanation
        }
    }

    struct Attempt: Encodable {
        var chain: [String]
        /// Whether the chain reaches an anchor.
        var reachesAnchor: Bool
        var failures: [Failure]
    }

    init(_ verdict: TrustVerdict, applied: [String] = [], violations: [String] = []) {
        isTrusted = verdict.isTrusted && violations.isEmpty
        status = (verdict.failure?.rule.status ?? (violations.isEmpty ? nil : .verifyActionFailed))?.name
        (self.applied, self.violations) = (applied, violations)
        revocationProblems = verdict.revocationProblems
        chain = verdict.chain.map(Self.name)
        failures = verdict.failures.map(Failure.init)
        attempts = verdict.attempts.map { attempt in
            Attempt(
                chain: attempt.certificates.map(Self.name), reachesAnchor: attempt.reachesAnchor,
                failures: attempt.failures.map(Failure.init)
            )
        }
    }

    private static func name(_ certificate: Certificate) -> String {
        certificate.subject.isEmpty ? certificate.subjectSummary ?? "(no name)" : certificate.subject.description
    }

    /// The report as text: each attempt as a tree, then the verdict.
    var text: TerminalText {
        var lines: [TerminalText] = []
        for (number, attempt) in attempts.enumerated() {
            lines.append("Attempt \(number + 1)\(attempt.reachesAnchor ? "" : ", without an anchor"):")
            lines += Self.tree(attempt.chain, attempt.failures)
            lines.append("")
        }
        lines += revocationProblems.map { "Revocation: \($0)" }
        lines += applied.map { "Applied: \($0)" }
        lines += violations.map { "Violated: \($0)" }
        if isTrusted {
            lines.append(failures.isEmpty ? "Trusted:" : "Trusted, with ignored rules:")
            lines += Self.tree(chain, failures)
        } else {
            lines.append("Not trusted: \(status ?? "unknown status")")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func tree(_ chain: [String], _ failures: [Failure]) -> [TerminalText] {
        chain.enumerated().flatMap { index, name -> [TerminalText] in
            let wrong = failures.filter { $0.index == index || $0.index >= chain.count && index == chain.count - 1 }
            return ["  \(index) \(name)"] + wrong.map { "      \($0.rule): \($0.explanation)" as TerminalText }
        }
    }
}
