// SPDX-License-Identifier: Apache-2.0

extension TrustEvaluation {
    /// The verdict by what was given, once the issuers that it takes are found.
    mutating func verdictWithIssuerLookup() -> TrustVerdict {
        var queriedNames: Set<NormalizedName> = []
        while true {
            let verdict = verdict(nil, revocation)
            guard let issuers, settingsProblem == nil, verdict.hasFailure(where: \.isAboutIssuers) else {
                return verdict
            }
            // Whoever ended a path may have an issuer that leads on.
            let names = verdict.ends.filter { !$0.isSelfIssued }.map(\.issuer)
            let wanted = names.filter {
                queriedNames.count < Self.maxQueries && queriedNames.insert(NormalizedName($0)).inserted
            }
            let found = wanted.flatMap { issuers($0).prefix(Self.maxResults) }.filter { !certificates.contains($0) }
            guard !found.isEmpty else { return verdict }
            certificates += found
        }
    }

    /// How many names a verdict asks for, and how many of a name it takes.
    private static let (maxQueries, maxResults) = (16, 16)
}

extension TrustRule {
    /// Whether another issuer could mend it.
    fileprivate var isAboutIssuers: Bool { [.untrusted, .signature, .keyIdentifier, .authority].contains(self) }
}
