// SPDX-License-Identifier: Apache-2.0

/// What is to be judged, and by what: everything that goes into one verdict.
public struct TrustEvaluation: Sendable {
    /// Finds certificates by their subject.
    public typealias IssuerSource = @Sendable (DistinguishedName) -> [Certificate]

    /// The leaf first; after it what was presented with it, in any order.
    public var certificates: [Certificate]
    /// All of them have to be kept. Without any, RFC 5280 alone counts.
    public var policies: [TrustPolicy]
    /// Anchors of the caller's own.
    public var anchors: [Certificate] = []
    /// Whether the system's anchors do not count.
    public var isAnchorsOnly = false
    /// Seconds since 1970.
    public var validationTime: Double
    /// What the user has agreed to overlook, of ``TrustVerdict/exceptions``.
    public var exceptions: TrustExceptions?
    /// Lists and responses that were given. They count also where no policy asks for them.
    public var revocation = RevocationInformation()
    /// Who fetches more of them where a policy asks; nil for nobody.
    public var fetcher: RevocationFetcher?
    /// What the program overlooks, or asks for besides its policies.
    public var options: TrustOptions = []
    /// Rules whose failure counts for nothing, as far as anybody may overlook them.
    public var ignoredRules: Set<TrustRule> = []
    /// What the user and the administrator say of certificates, the first of them first.
    public var settings: [TrustSettings] = []
    /// Why the settings are not known; then nothing is trusted.
    public var settingsProblem: String?
    public var systemAnchors: SystemAnchors = .shared
    /// Who may know issuers that were not presented; asked only where nobody trusted is found without them. Nil for nobody.
    public var issuers: IssuerSource?

    /// - Parameter certificates: at least one.
    public init(_ certificates: [Certificate], policies: [TrustPolicy], at validationTime: Double) {
        self.certificates = certificates
        self.policies = policies
        self.validationTime = validationTime
    }

    /// The verdict. Reads the system's anchors where they count and have changed; the same input gives the same verdict otherwise.
    ///
    /// Where a policy asks for revocation it looks for lists among the anchors' files and, for a chain that is trusted otherwise, asks the places
    /// that its certificates name, if there is a ``fetcher``: nobody else's certificate makes a program ask anybody.
    public func verdict() -> TrustVerdict {
        var evaluation = self
        let verdict = evaluation.verdictWithIssuerLookup()
        return evaluation.revocationOptions == nil ? verdict : evaluation.verdictWithRevocation()
    }

    /// The verdict by what is at hand, without asking anybody.
    ///
    /// - Parameter options: how revocation is looked at; nil where nobody asked.
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
        // Who is an anchor by the user's word alone is trusted by it.
        let isChosen = search.chain?.certificates.last.map { !anchors.contains($0) && !system.contains($0) } ?? false
        var verdictByUser = isChosen ? verdict.acceptedByUser : verdict
        let ends = verdict.revocationResults(information, options).map(\.result.validUntil)
        verdictByUser.revocationKnownUntil = ends.contains(nil) ? nil : ends.compactMap { $0 }.min()
        return verdictByUser
    }
}
