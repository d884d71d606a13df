// SPDX-License-Identifier: Apache-2.0

extension EvaluationSearch {
    /// The verdict without revocation evidence, after missing issuers were looked up with
    /// ``TrustEvaluation/issuers``. The search continues with those that were found.
    mutating func verdictWithIssuerLookup() -> TrustVerdict {
        var queriedNames: Set<NormalizedName> = []
        while true {
            let verdict = verdict(nil, RevocationInformation())
            guard let issuers = evaluation.issuers, verdict.hasFailure(where: \.isAboutIssuers) else {
                return verdict
            }
            // The last certificate of each failed attempt may have an issuer that continues the
            // chain.
            let wanted = verdict.ends.filter {
                !$0.isSelfIssued && queriedNames.count < Self.maxQueries
                    && queriedNames.insert($0.normalizedIssuer).inserted
            }
            let found = wanted.flatMap { issuers($0.issuer).prefix(Self.maxResults) }
                .filter { !evaluation.certificates.contains($0) }
            guard !found.isEmpty else { return verdict }
            self = adding(found)
        }
    }

    /// The most names that are looked up for a verdict, and the most results for a name.
    private static let (maxQueries, maxResults) = (16, 16)
}

extension TrustRule {
    /// Whether another issuer could avoid the failure.
    fileprivate var isAboutIssuers: Bool { [.untrusted, .signature, .keyIdentifier, .authority].contains(self) }
}
