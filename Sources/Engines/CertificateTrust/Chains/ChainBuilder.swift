// SPDX-License-Identifier: Apache-2.0

/// Searches for a chain from a leaf to an anchor that satisfies every rule; the most promising
/// candidates are tried first.
///
/// The search is depth-first. It tries only certificates whose issuer names lead to an anchor, so
/// that others cost nothing. A chain does not contain the same subject with the same key twice.
/// Every signature is verified once. All work is charged to a ``WorkBudget``.
public struct ChainBuilder: Sendable {
    private let anchors: CertificatePool
    private let intermediates: CertificatePool
    private let issuerRules: [any IssuerRule] = [CertificateAuthorityRule(), KeyIdentifierRule()]
    private let rules: [any ChainRule]
    private let denied: Set<Certificate>
    private let validationTime: Double

    /// The issuer names from which presented certificates lead to an anchor, without the anchors'
    /// own.
    private let namesReachingAnchors: Set<NormalizedName>
    private var budget = WorkBudget()
    private var attempts: [ChainAttempt] = []
    private var signatures: [Pair: TrustFailure?] = [:]

    private struct Pair: Hashable {
        let certificate: Certificate
        /// The issuer's key, not its certificate, because several certificates can have the same
        /// key.
        let key: SubjectPublicKeyInfo
    }

    private init(
        anchors: CertificatePool, intermediates: CertificatePool, policies: [TrustPolicy], denied: Set<Certificate>,
        also others: [any ChainRule], validationTime: Double
    ) {
        self.anchors = anchors
        // A denied certificate is found by its name, even if it was not presented.
        self.intermediates = intermediates.adding(Array(denied))
        self.denied = denied
        self.validationTime = validationTime
        rules =
            [
                WellFormedRule(), KeyStrengthRule(), ValidityRule(validationTime: validationTime), PathLengthRule(),
                NameConstraintsRule(), CertificatePolicyRule(),
            ]
            + policies.flatMap(\.rules) + others
        namesReachingAnchors = self.intermediates.namesReaching(to: anchors)
    }

    /// Searches for the chain of a leaf.
    ///
    /// - Parameters:
    ///   - intermediates: certificates that were presented with the leaf or are known otherwise, in
    ///     any order; unrelated ones are allowed.
    ///   - policies: all of them must be satisfied.
    ///   - others: further rules, checked last.
    ///   - denied: certificates that no chain may contain.
    ///   - validationTime: seconds since 1970.
    static func chain(
        for leaf: Certificate, intermediates: CertificatePool, anchors: CertificatePool,
        policies: [TrustPolicy] = [.basicX509],
        denied: Set<Certificate> = [], also others: [any ChainRule] = [], at validationTime: Double
    ) -> ChainSearchResult {
        var builder = ChainBuilder(
            anchors: anchors, intermediates: intermediates, policies: policies, denied: denied, also: others,
            validationTime: validationTime)
        do throws(TrustFailure) {
            if let chain = try builder.search([leaf]) {
                return ChainSearchResult(chain: chain, failedAttempts: builder.attempts)
            }
        } catch {
            builder.record([leaf], error)
        }
        return ChainSearchResult(chain: nil, failedAttempts: builder.attempts) { [builder] attempt in
            var builder = builder
            return builder.completed(attempt)
        }
    }

    /// The attempt with all its failures, even if it did not reach an anchor: those of its
    /// signatures and of every rule. A caller that ignores failures must know all of them.
    private mutating func completed(_ attempt: ChainAttempt) -> ChainAttempt {
        guard !attempt.reachesAnchor else { return attempt }
        // A new budget, because the search may have exhausted the first one.
        budget = WorkBudget()
        let path = attempt.certificates
        var failures = attempt.failures
        do throws(TrustFailure) {
            for index in path.indices.dropFirst() {
                if let failure = try issuingFailure(path[index], above: Array(path[..<index])) {
                    failures.append(failure)
                }
            }
            for rule in rules {
                do throws(TrustFailure) {
                    failures += try rule.failures(of: Chain(certificates: path), &budget)
                } catch {
                    failures.append(error)
                }
            }
        } catch {
            failures.append(error)
        }
        var seen: Set<TrustFailure> = []
        return ChainAttempt(path, stoppedBy: failures.filter { seen.insert($0).inserted })
    }

    /// The first chain that starts with this path and satisfies every rule.
    ///
    /// - Throws: if the budget is exhausted. Any other failure is recorded, and the search
    ///   continues.
    private mutating func search(_ path: [Certificate]) throws(TrustFailure) -> Chain? {
        try budget.spend(WorkBudget.step)
        let last = path[path.count - 1]
        // Checked first, so that nothing can override it.
        guard !denied.contains(last) else {
            record(path, TrustFailure(.denied, at: path.count - 1, "denied by a trust setting"))
            return nil
        }
        if anchors.contains(last) { return try check(path) }
        let issuer = last.normalizedIssuer
        guard anchors.hasCertificate(of: issuer) || namesReachingAnchors.contains(issuer) else {
            try recordUntrusted(path)
            return nil
        }
        guard path.count < WorkBudget.depth else {
            record(path, TrustFailure(.budget, at: 0, "the chain is longer than \(WorkBudget.depth) certificates"))
            return nil
        }
        let issuers = try candidates(issuer, for: last).filter { !isRepeated($0, in: path) }
        // The issuer's name leads to an anchor, but all certificates with it are in the path
        // already.
        if issuers.isEmpty { try recordUntrusted(path) }
        for candidate in issuers {
            if let failure = try issuingFailure(candidate, above: path) {
                record(path + [candidate], failure)
            } else if let chain = try search(path + [candidate]) {
                return chain
            }
        }
        return nil
    }

    /// Records that the path does not lead to an anchor. The recorded path is extended by issuer
    /// names as far as possible.
    private mutating func recordUntrusted(_ path: [Certificate]) throws(TrustFailure) {
        var path = path
        while path.count < WorkBudget.depth, !path[path.count - 1].isSelfIssued {
            let next = try candidates(path[path.count - 1].normalizedIssuer, for: path[path.count - 1])
            guard let issuer = next.first(where: { !isRepeated($0, in: path) }) else { break }
            path.append(issuer)
            guard !denied.contains(issuer) else {
                return record(path, TrustFailure(.denied, at: path.count - 1, "denied by a trust setting"))
            }
        }
        let last = path[path.count - 1]
        record(
            path,
            TrustFailure(
                .untrusted, at: path.count - 1,
                last.isSelfIssued
                    ? "self-issued, and not a trusted anchor"
                    : "issuer not found or not trusted: \(last.issuer)"))
    }

    /// Returns why the candidate is not the issuer of the path's last certificate; nil if it is.
    /// The cheap checks come first.
    ///
    /// - Throws: if the budget is exhausted.
    private mutating func issuingFailure(_ candidate: Certificate, above path: [Certificate]) throws(TrustFailure)
        -> TrustFailure?
    {
        let last = path[path.count - 1]
        for rule in issuerRules {
            do throws(TrustFailure) {
                try rule.check(candidate, of: last, at: path.count, isAnchor: anchors.contains(candidate))
            } catch {
                return error
            }
        }
        return try signatureFailure(last, at: path.count - 1, by: candidate)
    }

    private mutating func check(_ path: [Certificate]) throws(TrustFailure) -> Chain? {
        try budget.spend(WorkBudget.chain)
        let chain = Chain(certificates: path)
        var failures: [TrustFailure] = []
        for rule in rules { failures += try rule.failures(of: chain, &budget) }
        guard !failures.isEmpty else { return chain }
        attempts.append(ChainAttempt(chain, breaking: failures))
        return nil
    }

    /// The most attempts that are recorded.
    private static let maxRecorded = 200

    private mutating func record(_ path: [Certificate], _ failure: TrustFailure) {
        guard attempts.count < Self.maxRecorded || failure.rule == .budget else { return }
        attempts.append(ChainAttempt(path, stoppedBy: [failure]))
    }

    // MARK: Candidates

    /// The certificates that may have issued this one, the most promising first.
    private mutating func candidates(_ name: NormalizedName, for certificate: Certificate) throws(TrustFailure)
        -> [Certificate]
    {
        let known = anchors.certificates(of: name)
        let all = intermediates.certificates(of: name)
        // Every candidate is charged.
        try budget.spend(WorkBudget.step, known.count + all.count)
        let others = all.filter { !anchors.contains($0) }
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

    /// Whether the path contains the same subject with the same key already (RFC 4158, section
    /// 2.4.2).
    private func isRepeated(_ candidate: Certificate, in path: [Certificate]) -> Bool {
        path.contains {
            $0.publicKey.der == candidate.publicKey.der && $0.normalizedSubject == candidate.normalizedSubject
        }
    }

    // MARK: Signatures

    private mutating func signatureFailure(
        _ certificate: Certificate, at index: Int, by issuer: Certificate
    ) throws(TrustFailure) -> TrustFailure? {
        let pair = Pair(certificate: certificate, key: issuer.publicKey)
        if let known = signatures[pair] {
            return known.map { $0.moved(to: index + ($0.rule == .key ? 1 : 0)) }
        }
        try budget.spend(WorkBudget.signatureCheck)
        let failure = Self.signatureFailure(certificate, at: index, by: issuer)
        signatures[pair] = .some(failure)
        return failure
    }

    private static func signatureFailure(_ certificate: Certificate, at index: Int, by issuer: Certificate)
        -> TrustFailure?
    {
        let key: VerificationKey
        do throws(CertificateError) {
            key = try issuer.verificationKey()
        } catch {
            return TrustFailure(.key, at: index + 1, error.description)
        }
        do throws(CertificateError) {
            let holds = try key.isSignature(
                certificate.signature, of: certificate.signedBytes, certificate.signatureAlgorithm)
            return holds ? nil : TrustFailure(.signature, at: index, "not signed by the key of \(issuer.subject)")
        } catch {
            return TrustFailure(.algorithm, at: index, error.description)
        }
    }
}
