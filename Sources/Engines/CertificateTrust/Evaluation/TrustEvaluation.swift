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
    /// The policy for publicly logged certificates; if it is required, other certificates are refused.
    public var transparency: CertificateTransparencyPolicy?
    /// The failures that the program ignores, and its requirements in addition to its policies.
    public var options: TrustOptions = []
    /// Rules with failures that are ignored, if they are recoverable.
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
        guard let leaf = certificates.first else { return TrustVerdict(noCertificatesAt: validationTime) }
        if let settingsProblem { return TrustVerdict(denied: leaf, settingsProblem, at: validationTime) }
        var search = EvaluationSearch(self, of: leaf)
        let verdict = search.verdictWithIssuerLookup()
        if let options = revocationOptions { return search.verdictWithRevocation(options) }
        return revocation.isEmpty ? verdict : search.verdict(nil, revocation)
    }

    /// The rules that ``transparency`` adds.
    var transparencyRules: [any ChainRule] {
        guard let transparency, transparency.required else { return [] }
        return [TransparencyRule(policy: transparency, validationTime: validationTime)]
    }

    /// The union of the revocation options of all policies and of ``options``; nil if there are
    /// none.
    private var revocationOptions: RevocationOptions? {
        policies.reduce(options.revocationOptions) { options, policy in
            policy.revocationOptions.map { (options ?? []).union($0) } ?? options
        }
    }
}
