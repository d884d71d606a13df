// SPDX-License-Identifier: Apache-2.0

/// Finds the certificates that may have issued another, by name.
struct IssuerCandidates: Sendable {
    let anchors: CertificatePool
    let intermediates: CertificatePool
    /// Seconds since 1970.
    let validationTime: Double

    /// The certificates that may have issued this one, the most promising first.
    ///
    /// - Throws: if the budget is exhausted.
    func ranked(for certificate: Certificate, _ budget: inout WorkBudget) throws(TrustFailure) -> [Certificate] {
        let known = anchors.certificates(of: certificate.normalizedIssuer)
        let all = intermediates.certificates(of: certificate.normalizedIssuer)
        // Every candidate is charged.
        try budget.spend(.step, known.count + all.count)
        let others = all.filter { !anchors.contains($0) }
        guard known.count + others.count > 1 else { return known + others }
        let ranked = known.map { ($0, 0) } + others.map { ($0, 1) }
        let scored = ranked.enumerated().map {
            (score: penalty($1.0, for: certificate) * 2 + $1.1, index: $0, certificate: $1.0)
        }
        return scored.sorted { ($0.score, $0.index) < ($1.score, $1.index) }.map(\.certificate)
    }

    /// Ranks a candidate: 0 if its key identifier matches and it is valid; higher if it is less
    /// likely.
    private func penalty(_ issuer: Certificate, for certificate: Certificate) -> Int {
        var penalty = 0
        if let wanted = certificate.extensions.authorityKeyIdentifier?.keyIdentifier {
            if let own = issuer.extensions.subjectKeyIdentifier {
                penalty += own == wanted ? 0 : 4
            } else {
                penalty += 2
            }
        }
        return penalty + (issuer.validity.contains(validationTime) ? 0 : 1)
    }
}
