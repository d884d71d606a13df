// SPDX-License-Identifier: Apache-2.0

/// Searches for a chain from a leaf to an anchor that satisfies every rule; the most promising
/// candidates are tried first.
///
/// The search is depth-first. It tries only certificates with issuer names that lead to an anchor, so that others cost
/// nothing. A chain does not contain the same subject with the same key twice. Every signature is verified once. All
/// work is charged to a ``WorkBudget``.
///
/// The search stops at the first chain that is accepted, and continues from there if a later
/// ``result(also:)`` does not accept it.
public struct ChainBuilder: Sendable {
    private let leaf: Certificate
    private let anchors: CertificatePool
    private let candidates: IssuerCandidates
    private let issuerRules: [any IssuerRule] = [CertificateAuthorityRule(), KeyIdentifierRule()]
    private let rules: [any ChainRule]
    private let denied: Set<Certificate>

    /// The issuer names that presented certificates connect to an anchor, without the anchors' own.
    private let namesReachingAnchors: Set<NormalizedName>
    private(set) var budget = WorkBudget()
    /// The signatures that the search has verified.
    private(set) var signatures: VerifiedSignatures

    /// The findings of the search so far, in order.
    private var findings: [Finding] = []
    /// Where the search continues: the deepest path is last.
    private var openPaths: [OpenPath]
    private var isFinished = false

    private enum Finding {
        case attempt(ChainAttempt)
        /// A chain that reaches an anchor, and its failures; it can have none.
        case chain(Chain, [TrustFailure])
    }

    /// A path and the possible issuers of its last certificate that were not tried yet.
    private struct OpenPath {
        let certificates: [Certificate]
        var issuers: ArraySlice<Certificate>
    }

    /// Prepares the search for the chain of a leaf.
    ///
    /// - Parameters:
    ///   - intermediates: certificates that were presented with the leaf or are known otherwise, in
    ///     any order; unrelated ones are allowed.
    ///   - policies: all of them must be satisfied.
    ///   - denied: certificates that no chain may contain.
    ///   - chosen: the anchors that the program or the user has chosen, in contrast to the system's.
    ///   - others: further rules, checked last.
    ///   - signatures: the signatures that another search has verified.
    ///   - validationTime: seconds since 1970.
    init(
        for leaf: Certificate, intermediates: CertificatePool, anchors: CertificatePool,
        policies: [TrustPolicy] = [.basicX509], denied: Set<Certificate> = [], chosen: Set<Certificate> = [],
        also others: [any ChainRule] = [], knowing signatures: VerifiedSignatures = VerifiedSignatures(),
        at validationTime: Double
    ) {
        self.leaf = leaf
        self.anchors = anchors
        self.denied = denied
        self.signatures = signatures
        // A denied certificate is found by its name, even if it was not presented.
        let intermediates = intermediates.adding(Array(denied))
        candidates = IssuerCandidates(anchors: anchors, intermediates: intermediates, validationTime: validationTime)
        rules =
            [
                KeyIdentifierPresenceRule(chosen: chosen), WellFormedRule(), KeyStrengthRule(),
                ValidityRule(validationTime: validationTime), PathLengthRule(),
                NameConstraintsRule(), CertificatePolicyRule(),
            ]
            + policies.flatMap(\.rules) + others
        namesReachingAnchors = intermediates.namesReaching(to: anchors)
        openPaths = [OpenPath(certificates: [], issuers: [leaf])]
    }

    /// The result of a search with only one call.
    static func chain(
        for leaf: Certificate, intermediates: CertificatePool, anchors: CertificatePool,
        policies: [TrustPolicy] = [.basicX509],
        denied: Set<Certificate> = [], chosen: Set<Certificate> = [], also others: [any ChainRule] = [],
        at validationTime: Double
    ) -> ChainSearchResult {
        var builder = ChainBuilder(
            for: leaf, intermediates: intermediates, anchors: anchors, policies: policies, denied: denied,
            chosen: chosen, also: others, at: validationTime)
        return builder.result()
    }

    /// Returns the first chain that satisfies every rule.
    ///
    /// The findings of earlier calls are used again, so that calls with different `other` rules cost one search.
    ///
    /// - Parameter other: a further rule, checked last.
    mutating func result(also other: (any ChainRule)? = nil) -> ChainSearchResult {
        var attempts: [ChainAttempt] = []
        do throws(TrustFailure) {
            var index = 0
            while let finding = finding(at: index) {
                index += 1
                switch finding {
                case .attempt(let attempt): attempts.append(attempt)
                case .chain(let chain, var failures):
                    if let other { failures += try other.failures(of: chain, &budget) }
                    guard !failures.isEmpty else { return ChainSearchResult(chain: chain, failedAttempts: attempts) }
                    attempts.append(ChainAttempt(chain, breaking: failures))
                }
            }
        } catch {
            attempts.append(ChainAttempt([leaf], stoppedBy: [error]))
        }
        return ChainSearchResult(
            chain: nil, failedAttempts: attempts,
            complete: { [builder = self] attempt in
                var builder = builder
                return builder.completed(attempt, also: other)
            }, extend: { [builder = self] in builder.extended($0) })
    }

    /// A finding by its number. The search continues if it has not found it yet; nil if it ends
    /// before.
    private mutating func finding(at index: Int) -> Finding? {
        while index >= findings.count, !isFinished {
            do throws(TrustFailure) { isFinished = try !findNextChain() } catch {
                record([leaf], error)
                isFinished = true
            }
        }
        return index < findings.count ? findings[index] : nil
    }

    /// The attempt with all its failures, even if it did not reach an anchor: those of its
    /// signatures and of every rule. A caller that ignores failures must know all of them.
    private mutating func completed(_ attempt: ChainAttempt, also other: (any ChainRule)?) -> ChainAttempt {
        guard !attempt.reachesAnchor else { return attempt }
        // A new budget, because the search may have exhausted the first one.
        budget = WorkBudget()
        let path = attempt.certificates
        var failures = attempt.failures
        do throws(TrustFailure) {
            for index in path.indices.dropFirst() where index != attempt.failure.unfitIssuer {
                if let failure = try issuingFailure(path[index], above: Array(path[..<index])) {
                    failures.append(failure)
                }
            }
            for rule in rules + (other.map { [$0] } ?? []) {
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

    /// The attempt with the certificates up to an anchor, if it ended at an issuer that does not fit.
    /// They are found by their names alone; all failures of the whole are found when they are read.
    private func extended(_ attempt: ChainAttempt) -> ChainAttempt {
        let isEndedByIssuer = [.keyIdentifier, .authority, .signature].contains(attempt.failure.rule)
        guard isEndedByIssuer, !attempt.reachesAnchor, var last = attempt.certificates.last else { return attempt }
        // The search may have exhausted its budget.
        var (path, budget) = (attempt.certificates, WorkBudget())
        while !anchors.contains(last) {
            guard path.count < WorkBudget.depth, let issuers = try? candidates.ranked(for: last, &budget),
                let issuer = issuers.first(where: { !isRepeated($0, in: path) && !denied.contains($0) })
            else { return attempt }
            path.append(issuer)
            last = issuer
        }
        return ChainAttempt(path, stoppedBy: attempt.failures)
    }

    /// Continues the search to the next chain that reaches an anchor.
    ///
    /// - Returns: false if there is no further one.
    /// - Throws: if the budget is exhausted. Any other failure is recorded, and the search
    ///   continues.
    private mutating func findNextChain() throws(TrustFailure) -> Bool {
        while let path = openPaths.last?.certificates {
            guard let candidate = openPaths[openPaths.count - 1].issuers.popFirst() else {
                openPaths.removeLast()
                continue
            }
            if !path.isEmpty, let failure = try issuingFailure(candidate, above: path) {
                record(path + [candidate], failure)
            } else if try visit(path + [candidate]) {
                return true
            }
        }
        return false
    }

    /// Records a path that ends here, or opens it for its possible issuers.
    ///
    /// - Returns: whether the path is a chain that reaches an anchor.
    private mutating func visit(_ path: [Certificate]) throws(TrustFailure) -> Bool {
        try budget.spend(.step)
        let last = path[path.count - 1]
        // Checked first, so that nothing can override it.
        guard !denied.contains(last) else {
            record(path, TrustFailure(.denied, at: path.count - 1, "denied by a trust setting"))
            return false
        }
        if anchors.contains(last) {
            try check(path)
            return true
        }
        let issuer = last.normalizedIssuer
        guard anchors.hasCertificate(of: issuer) || namesReachingAnchors.contains(issuer) else {
            try recordUntrusted(path)
            return false
        }
        guard path.count < WorkBudget.depth else {
            record(path, TrustFailure(.budget, at: 0, "the chain is longer than \(WorkBudget.depth) certificates"))
            return false
        }
        let issuers = try candidates.ranked(for: last, &budget).filter { !isRepeated($0, in: path) }
        // The issuer's name leads to an anchor, but all certificates with it are in the path
        // already.
        if issuers.isEmpty { try recordUntrusted(path) }
        openPaths.append(OpenPath(certificates: path, issuers: issuers[...]))
        return false
    }

    /// Records that the path does not lead to an anchor. The recorded path is extended by issuer
    /// names as far as possible.
    private mutating func recordUntrusted(_ path: [Certificate]) throws(TrustFailure) {
        var path = path
        while path.count < WorkBudget.depth, !path[path.count - 1].isSelfIssued {
            let next = try candidates.ranked(for: path[path.count - 1], &budget)
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
        return try signatures.failure(of: last, at: path.count - 1, by: candidate, &budget)
    }

    /// Checks a chain that reaches an anchor against every rule, and records it.
    private mutating func check(_ path: [Certificate]) throws(TrustFailure) {
        try budget.spend(.chain)
        let chain = Chain(certificates: path)
        var failures: [TrustFailure] = []
        for rule in rules { failures += try rule.failures(of: chain, &budget) }
        findings.append(.chain(chain, failures))
    }

    /// The most attempts that are recorded.
    private static let maxRecorded = 200

    private mutating func record(_ path: [Certificate], _ failure: TrustFailure) {
        guard findings.count < Self.maxRecorded || failure.rule == .budget else { return }
        findings.append(.attempt(ChainAttempt(path, stoppedBy: [failure])))
    }

    /// Whether the path contains the same subject with the same key already (RFC 4158, section
    /// 2.4.2).
    private func isRepeated(_ candidate: Certificate, in path: [Certificate]) -> Bool {
        path.contains {
            $0.publicKey.der == candidate.publicKey.der && $0.normalizedSubject == candidate.normalizedSubject
        }
    }
}
