// SPDX-License-Identifier: Apache-2.0

/// What is to be judged, and by what: everything that goes into one verdict.
public struct TrustEvaluation: Sendable {
    /// The leaf first; after it what was presented with it, in any order.
    public var certificates: [Certificate]
    /// All of them have to be kept. Without any, RFC 5280 alone counts.
    public var policies: [TrustPolicy]
    /// Anchors of the caller's own.
    public var anchors: [Certificate] = []
    /// Whether the system's anchors do not count.
    public var isAnchorsOnly = false
    /// Seconds since 1970.
    public var moment: Double
    /// What the user has agreed to overlook, of ``TrustVerdict/exceptions``.
    public var exceptions: TrustExceptions?
    /// Lists and responses that were given. They count also where no policy asks for them.
    public var revocation = RevocationInformation()
    /// Rules whose failure counts for nothing, as far as anybody may overlook them.
    public var overlooked: Set<TrustRule> = []
    /// What the user and the administrator say of certificates, the first of them first.
    public var settings: [TrustSettings] = []
    /// Why the settings are not known; then nothing is trusted.
    public var settingsProblem: String?
    public var systemAnchors: SystemAnchors = .shared

    /// - Parameter certificates: at least one.
    public init(_ certificates: [Certificate], policies: [TrustPolicy], at moment: Double) {
        self.certificates = certificates
        self.policies = policies
        self.moment = moment
    }

    /// The verdict. Reads the system's anchors where they count and have changed; the same input gives the same verdict otherwise.
    public func verdict() -> TrustVerdict {
        guard let leaf = certificates.first else { return TrustVerdict(nothing: moment) }
        if let settingsProblem {
            let failure = TrustFailure(.denied, at: 0, settingsProblem)
            return TrustVerdict(ChainVerdict(chain: nil, attempts: [ChainAttempt([leaf], stoppedBy: [failure])]), leaf, at: moment) {
                _, _ in
                false
            }
        }
        let policies = policies.isEmpty ? [.basicX509] : policies
        let joined = JoinedSettings(settings, for: policies)
        let system = isAnchorsOnly ? CertificatePool([]) : systemAnchors.load().pool
        let chosen = isAnchorsOnly ? [] : joined.anchors
        let search = ChainBuilder.chain(
            for: leaf, intermediates: CertificatePool(certificates.dropFirst()), anchors: system.adding(anchors + chosen),
            policies: policies, denied: joined.denied, also: revocationRules(policies), at: moment)
        let verdict = TrustVerdict(search, leaf, at: moment) { failure, certificate in
            overlooked.contains(failure.rule) || joined.allows(failure, about: certificate)
                || exceptions?.cover(failure, about: certificate, of: leaf) == true
        }
        // Who is an anchor by the user's word alone is trusted by it.
        let isChosen = verdict.chain.last.map { !anchors.contains($0) && !system.contains($0) } ?? false
        return isChosen ? verdict.byUser : verdict
    }

    private func revocationRules(_ policies: [TrustPolicy]) -> [any ChainRule] {
        let asked = policies.compactMap { if case .revocation(let options) = $0 { options } else { nil } }
        guard !asked.isEmpty || !revocation.isEmpty else { return [] }
        let options = asked.isEmpty ? nil : asked.reduce(into: RevocationOptions()) { $0.formUnion($1) }
        return [RevocationRule(information: revocation, options: options, moment: moment)]
    }
}
