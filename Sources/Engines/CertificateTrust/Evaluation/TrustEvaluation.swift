// SPDX-License-Identifier: Apache-2.0

/// All inputs of one trust decision.
public struct TrustEvaluation: Sendable {
    /// Finds certificates by their subject.
    public typealias IssuerSource = @Sendable (DistinguishedName) -> [Certificate]

    /// The leaf, then the certificates that were presented with it, in any order.
    public var certificates: [Certificate]
    /// All of them must be satisfied. If empty, only RFC 5280 is checked.
    public var policies: [TrustPolicy]
    /// The caller's own anchors.
    public var anchors: [Certificate] = []
    /// Whether only ``anchors`` are trusted, and the system's anchors and the settings' are not.
    public var isAnchorsOnly = false
    /// Seconds since 1970.
    public var validationTime: Double
    /// The failures that the user accepted, from ``TrustVerdict/exceptions``.
    public var exceptions: TrustExceptions?
    /// The revocation evidence that was given. It is used even if no policy checks revocation.
    public var revocation = RevocationInformation()
    /// Fetches revocation evidence if a policy checks revocation; nil to fetch nothing.
    public var fetcher: RevocationFetcher?
    /// What the program ignores, or requires in addition to its policies.
    public var options: TrustOptions = []
    /// Rules whose failures are ignored, if they are recoverable.
    public var ignoredRules: Set<TrustRule> = []
    /// The trust settings of the user and the administrator, in order of precedence.
    public var settings: [TrustSettings] = []
    /// Why the settings could not be read; if set, nothing is trusted.
    public var settingsProblem: String?
    public var systemAnchors: SystemAnchors = .shared
    /// Finds issuers that were not presented; called only if no trusted chain is found without
    /// them. Nil for no lookup.
    public var issuers: IssuerSource?

    /// - Parameter certificates: at least one.
    public init(_ certificates: [Certificate], policies: [TrustPolicy], at validationTime: Double) {
        self.certificates = certificates
        self.policies = policies
        self.validationTime = validationTime
    }

    /// Returns the verdict. Reads the system's anchors if they are used and have changed; otherwise
    /// the same input gives the same verdict.
    ///
    /// If a policy checks revocation, CRLs among the anchors' files are used. For a chain that is
    /// trusted otherwise, and if there is a ``fetcher``, evidence is also fetched from the
    /// locations that its certificates name. An untrusted certificate never causes a request.
    public func verdict() -> TrustVerdict {
        var evaluation = self
        let verdict = evaluation.verdictWithIssuerLookup()
        return evaluation.revocationOptions == nil ? verdict : evaluation.verdictWithRevocation()
    }

    /// The verdict with this revocation evidence, without fetching.
    ///
    /// - Parameter options: how revocation is checked; nil if no policy checks it.
    func verdict(_ options: RevocationOptions?, _ information: RevocationInformation) -> TrustVerdict {
        guard let leaf = certificates.first else { return TrustVerdict(noCertificatesAt: validationTime) }
        if let settingsProblem {
            let failure = TrustFailure(.denied, at: 0, settingsProblem)
            return TrustVerdict(
                ChainSearchResult(chain: nil, failedAttempts: [ChainAttempt([leaf], stoppedBy: [failure])]), leaf,
                at: validationTime
            ) {
                _, _ in
                false
            }
        }
        let policies = policies.isEmpty ? [.basicX509] : policies
        let joined = MergedTrustSettings(settings, for: policies)
        let system = isAnchorsOnly ? CertificatePool([]) : systemAnchors.load().pool
        let chosen = isAnchorsOnly ? [] : joined.anchors
        let rule = RevocationRule(information: information, options: options, validationTime: validationTime)
        let search = ChainBuilder.chain(
            for: leaf, intermediates: CertificatePool(certificates.dropFirst()),
            anchors: system.adding(anchors + chosen + self.options.anchors(among: certificates)),
            policies: policies, denied: joined.denied, also: options == nil && information.isEmpty ? [] : [rule],
            at: validationTime)
        let verdict = TrustVerdict(search, leaf, at: validationTime) { failure, certificate in
            ignoredRules.contains(failure.rule) || self.options.ignores(failure, about: certificate)
                || joined.allows(failure, about: certificate)
                || exceptions?.covers(failure, about: certificate, of: leaf) == true
        }
        // An anchor that only the trust settings name is trusted by the user's decision.
        let isChosen = search.chain?.certificates.last.map { !anchors.contains($0) && !system.contains($0) } ?? false
        var verdictByUser = isChosen ? verdict.acceptedByUser : verdict
        let ends = verdict.revocationResults(information, options).map(\.result.validUntil)
        verdictByUser.revocationKnownUntil = ends.contains(nil) ? nil : ends.compactMap { $0 }.min()
        return verdictByUser
    }
}
