// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyNIOSSL
internal import TransportPolicy

/// One step of `latchkey tls check`, in the shape of its JSON.
struct CheckStep: Encodable {
    enum State: String, Encodable {
        case ok
        case failed
        case notDone = "not done"
    }

    let name: String
    let state: State
    /// The found state, and the expected one if the step has failed.
    let reason: String

    init(_ name: String, _ state: State, _ reason: String) {
        (self.name, self.state, self.reason) = (name, state, reason)
    }
}

/// The steps of a check, from the result of its connection.
struct CheckSteps {
    let probe: HandshakeProbe
    let result: HandshakeProbe.Result
    /// The policy's requirements for the host; nil if it refuses the host.
    let requirements: TLSRequirements?

    var all: [CheckStep] {
        [
            policy, connection, version, certificate, chain, name, dates, revocation, pins, strength, suites,
            applicationProtocol,
        ]
    }

    // MARK: The result of the connection

    private var refusal: TLSRefusal? { if case .refused(let refusal) = result.outcome { refusal } else { nil } }
    private var peer: TLSHandshake.Peer? { if case .accepted(let peer) = result.outcome { peer } else { nil } }
    private var verdict: TrustVerdict? { peer?.verdict ?? refusal?.verdict }
    private var isAccepted: Bool { peer != nil }

    private var violations: [TransportViolation] {
        if case .violations(let violations) = refusal?.reason { violations } else { [] }
    }

    private func violation(_ isOfKind: (TransportViolation.Kind) -> Bool) -> TransportViolation? {
        violations.first { isOfKind($0.kind) }
    }

    /// The reason that the connection ended before a step.
    private var ending: String {
        switch result.outcome {
        case .accepted: "the step has no result"
        case .refused(let refusal): refusal.explanation
        case .unreachable: result.isConnected ? "the handshake did not end" : "there is no connection"
        }
    }

    private var isPolicyRefusal: Bool { if case .policy = refusal?.reason { true } else { false } }

    // MARK: The connection

    private var policy: CheckStep {
        if isPolicyRefusal { return CheckStep("policy", .failed, ending) }
        guard let requirements else { return CheckStep("policy", .notDone, ending) }
        let forward = requirements.requiresForwardSecrecy ? ", forward secrecy" : ""
        return CheckStep("policy", .ok, "TLS is required: at least \(requirements.minimumVersion)\(forward)")
    }

    private var connection: CheckStep {
        if isPolicyRefusal { return CheckStep("connect", .notDone, "the policy allows no connection") }
        return result.isConnected
            ? CheckStep(
                "connect", .ok, "connected to \(probe.connectHost ?? probe.server.host), port \(probe.server.port)")
            : CheckStep("connect", .failed, problem)
    }

    private var problem: String { if case .unreachable(let reason) = result.outcome { reason } else { ending } }

    private var version: CheckStep {
        if let failure = violation({ if case .version = $0 { true } else { false } }) {
            return CheckStep("protocol", .failed, failure.explanation)
        }
        switch refusal?.reason {
        case .version, .notTLS, .renegotiation: return CheckStep("protocol", .failed, ending)
        default: break
        }
        guard verdict != nil, let version = result.version else {
            // A handshake that does not end, or that ends without a certificate.
            return CheckStep("protocol", result.isConnected && !isPolicyRefusal ? .failed : .notDone, problem)
        }
        return CheckStep("protocol", .ok, "\(version)")
    }

    // MARK: The certificates

    private var certificate: CheckStep {
        guard let leaf = (peer?.served ?? refusal?.served)?.first else {
            if case .certificate = refusal?.reason { return CheckStep("certificate", .failed, ending) }
            return CheckStep("certificate", .notDone, ending)
        }
        return CheckStep(
            "certificate", .ok, leaf.subject.isEmpty ? leaf.subjectSummary ?? "no name" : "\(leaf.subject)")
    }

    private static let nameRules: Set<TrustRule> = [.serverName, .hostNameForm]
    private static let dateRules: Set<TrustRule> = [.expired, .notYetValid, .validityPeriod]
    private static let revocationRules: Set<TrustRule> = [.revoked, .revocationUnknown]

    /// The failures of the chain, without those that the user has accepted.
    private var failures: [TrustFailure] {
        guard let verdict, !verdict.isTrusted else { return [] }
        let all = verdict.failures
        return all.isEmpty ? [verdict.failure].compactMap(\.self) : all
    }

    private func failure(_ isOfKind: (TrustRule) -> Bool) -> String? {
        guard let verdict, let failure = failures.first(where: { isOfKind($0.rule) }) else { return nil }
        return verdict.explanation(failure)
    }

    private var chain: CheckStep {
        guard let verdict else { return CheckStep("chain", .notDone, ending) }
        let others = Self.nameRules.union(Self.dateRules).union(Self.revocationRules)
        if let problem = failure({ !others.contains($0) }) { return CheckStep("chain", .failed, problem) }
        let end = verdict.chain.last.map { $0.subjectSummary ?? "an anchor without a name" } ?? "no anchor"
        return CheckStep("chain", .ok, "\(verdict.chain.count) certificates, up to \(end)")
    }

    private var name: CheckStep {
        step("name", Self.nameRules, "the certificate is for \(probe.server.host)")
    }

    private var dates: CheckStep {
        let end = verdict?.chain.map(\.validity.notAfter).min()
        return step("dates", Self.dateRules, end.map { "valid until \($0)" } ?? "no end is known")
    }

    /// A step of rules that are also applied to a chain that is not trusted.
    private func step(_ name: String, _ rules: Set<TrustRule>, _ success: String) -> CheckStep {
        guard verdict != nil else { return CheckStep(name, .notDone, ending) }
        if let problem = failure(rules.contains) { return CheckStep(name, .failed, problem) }
        let stops: Set<TrustRule> = [.denied, .budget, .form]
        if let stop = failure(stops.contains) { return CheckStep(name, .notDone, stop) }
        return CheckStep(name, .ok, success)
    }

    private var revocation: CheckStep {
        guard probe.client.trust.revocation != nil else {
            return CheckStep("revocation", .notDone, "not requested; --revocation checks it")
        }
        guard let verdict else { return CheckStep("revocation", .notDone, ending) }
        if let problem = failure(Self.revocationRules.contains) { return CheckStep("revocation", .failed, problem) }
        guard verdict.isTrusted else { return CheckStep("revocation", .notDone, "the chain is not trusted") }
        let problems = verdict.revocationProblems.map { ": \($0)" }.joined()
        guard let end = verdict.revocationKnownUntil else {
            return CheckStep(
                "revocation", .notDone, "no certificate is known to be revoked, and no evidence covers all\(problems)")
        }
        let time = CertificateTime(secondsSince1970: Int64(end))
        return CheckStep("revocation", .ok, "not revoked until \(time)\(problems)")
    }

    // MARK: The policy

    private var pins: CheckStep {
        if let failure = refusal?.pinFailures.first { return CheckStep("pins", .failed, failure.description) }
        guard let requirements, !requirements.pins.isEmpty else {
            return CheckStep("pins", .notDone, "no pins are applied")
        }
        guard let peer else { return CheckStep("pins", .notDone, "pins are compared with trusted chains only") }
        if let report = peer.reports.first {
            return CheckStep("pins", .notDone, "only reported: \(report.description)")
        }
        let domains = requirements.pins.map(\.rule.domain.description)
        return CheckStep("pins", .ok, "a pinned key was found, as required of \(domains.joined(separator: " and "))")
    }

    private var strength: CheckStep {
        let weak = violation { kind in
            switch kind {
            case .key, .signatureHash, .certificateTransparency: true
            default: false
            }
        }
        if let weak { return CheckStep("strength", .failed, weak.explanation) }
        guard let leaf = verdict?.chain.first else { return CheckStep("strength", .notDone, ending) }
        return CheckStep("strength", .ok, "\(leaf.publicKey), signed with \(leaf.signatureName)")
    }

    private var suites: CheckStep {
        if case .algorithms = refusal?.reason { return CheckStep("suites", .failed, ending) }
        guard verdict != nil, let requirements else { return CheckStep("suites", .notDone, ending) }
        let offered = requirements.requiresForwardSecrecy ? "only suites with forward secrecy" : "all suites"
        return CheckStep("suites", .ok, "\(offered) were offered; the selected one cannot be read")
    }

    private var applicationProtocol: CheckStep {
        guard isAccepted else { return CheckStep("alpn", .notDone, "known after an accepted handshake") }
        return CheckStep("alpn", .ok, result.applicationProtocol ?? "the server selected no protocol")
    }
}
