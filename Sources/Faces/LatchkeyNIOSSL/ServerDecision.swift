// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import NIOSSL
internal import TransportPolicy

/// The decision about a server, complete except for the evaluation of its certificates.
struct ServerDecision: Sendable {
    private let requirements: TLSRequirements
    /// Leaf first; not empty.
    private let served: [Certificate]
    private let version: TransportPolicy.TLSVersion?
    private let trust: PeerTrust
    /// Seconds since 1970.
    private let time: Double

    init(
        _ requirements: TLSRequirements, _ served: [Certificate], _ version: NIOSSL.TLSVersion?, _ trust: PeerTrust,
        at time: Double
    ) {
        (self.requirements, self.served, self.trust, self.time) = (requirements, served, trust, time)
        self.version = version.flatMap { TransportPolicy.TLSVersion($0) }
    }

    /// The result with an evaluation of the served certificates.
    func result(_ verdict: TrustVerdict) -> Result<TLSHandshake.Peer, TLSRefusal> {
        let decision = decision(verdict)
        guard decision.isAccepted, let chain = ValidatedChain(verdict) else {
            return .failure(refusal(decision.violations, verdict))
        }
        return .success(TLSHandshake.Peer(chain: chain, verdict: verdict, served: served, reports: decision.reports))
    }

    /// Why a server with this evaluation is refused; nil if it is accepted.
    func refusal(_ verdict: TrustVerdict) -> TLSRefusal? {
        guard case .failure(let refusal) = result(verdict) else { return nil }
        return refusal
    }

    /// The result after the review.
    func result(
        of evaluation: ServerEvaluation, _ review: any ServerReview
    ) async -> Result<TLSHandshake.Peer, TLSRefusal> {
        switch await review.answer(to: evaluation) {
        case .default: result(evaluation.verdict)
        case .evaluated(let verdict): result(verdict)
        case .acceptedByProgram: resultAcceptedByProgram(evaluation.verdict)
        case .refused(let refusal): .failure(refusal)
        }
    }

    /// The result if the program accepts the server without a valid chain. The other requirements
    /// remain.
    private func resultAcceptedByProgram(_ verdict: TrustVerdict) -> Result<TLSHandshake.Peer, TLSRefusal> {
        guard requirements.leavesTrustToProgram, !verdict.isTrusted else { return result(verdict) }
        let decision = decision(verdict)
        let others = decision.violations.filter { if case .trust = $0.kind { false } else { true } }
        guard others.isEmpty else { return .failure(refusal(others, verdict)) }
        return .success(TLSHandshake.Peer(chain: nil, verdict: verdict, served: served, reports: []))
    }

    private func decision(_ verdict: TrustVerdict) -> HandshakeVerdict {
        var connection = NegotiatedConnection(version, suite: offeredSuite, verdict: verdict, served: served)
        connection.hasCertificateTransparency = trust.hasTransparency(verdict)
        return requirements.verdict(on: connection, at: time)
    }

    private func refusal(_ violations: [TransportViolation], _ verdict: TrustVerdict) -> TLSRefusal {
        TLSRefusal(violations, served: served, verdict: verdict)
    }

    /// A suite that the configuration offers for the version. NIOSSL does not tell the negotiated suite, and BoringSSL
    /// refuses a server that selects one that was not offered.
    private var offeredSuite: String {
        requirements.suites.first { ($0.keyExchange == .tls13) == (version == .tls13) }?.name ?? ""
    }
}
