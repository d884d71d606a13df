// SPDX-License-Identifier: Apache-2.0

/// An evaluation in progress. Chains are searched once, although verdicts with different revocation evidence are
/// needed: to find the missing evidence, and with the evidence.
struct EvaluationSearch {
    let evaluation: TrustEvaluation
    let verifier: RevocationVerifier
    private let leaf: Certificate
    private let settings: MergedTrustSettings
    private let systemAnchors: CertificatePool
    private var builder: ChainBuilder

    /// Reads the system's anchors, if they are used.
    ///
    /// - Parameter signatures: the signatures that another search has verified.
    init(
        _ evaluation: TrustEvaluation, of leaf: Certificate,
        knowing signatures: VerifiedSignatures = VerifiedSignatures()
    ) {
        self.evaluation = evaluation
        self.leaf = leaf
        verifier = RevocationVerifier(at: evaluation.validationTime)
        let policies = evaluation.policies.isEmpty ? [.basicX509] : evaluation.policies
        settings = MergedTrustSettings(evaluation.settings, for: policies)
        systemAnchors = evaluation.isAnchorsOnly ? CertificatePool([]) : evaluation.systemAnchors.load().pool
        let others =
            evaluation.anchors + (evaluation.isAnchorsOnly ? [] : settings.anchors)
            + evaluation.options.anchors(among: evaluation.certificates)
        builder = ChainBuilder(
            for: leaf, intermediates: CertificatePool(evaluation.certificates.dropFirst()),
            anchors: systemAnchors.adding(others), policies: policies, denied: settings.denied,
            chosen: Set(others), also: evaluation.transparencyRules, knowing: signatures,
            at: evaluation.validationTime)
    }

    /// The search with these certificates in addition to those that were presented. It starts
    /// again, because each of them can be in a better chain; verified signatures are kept.
    func adding(_ certificates: [Certificate]) -> EvaluationSearch {
        var evaluation = evaluation
        evaluation.certificates += certificates
        return EvaluationSearch(evaluation, of: leaf, knowing: builder.signatures)
    }

    /// The verdict with this revocation evidence, without fetching.
    ///
    /// - Parameter options: how revocation is checked; nil if no policy checks it.
    mutating func verdict(_ options: RevocationOptions?, _ information: RevocationInformation) -> TrustVerdict {
        let rule = RevocationRule(information: information, options: options, verifier: verifier)
        let result = builder.result(also: options == nil && information.isEmpty ? nil : rule)
        let verdict = TrustVerdict(result, leaf, at: evaluation.validationTime) { failure, certificate in
            evaluation.ignoredRules.contains(failure.rule) || evaluation.options.ignores(failure, about: certificate)
                || settings.allows(failure, about: certificate)
                || evaluation.exceptions?.covers(failure, about: certificate, of: leaf) == true
        }
        // An anchor that only the trust settings name is trusted by the user's decision.
        let isChosen =
            result.chain?.certificates.last.map {
                !evaluation.anchors.contains($0) && !systemAnchors.contains($0)
            } ?? false
        var verdictByUser = isChosen ? verdict.acceptedByUser : verdict
        let results = revocationResults(of: verdict, options, information).map(\.result)
        let ends = results.map(\.validUntil)
        verdictByUser.revocationProblems = Self.unique(
            information.errors + results.filter(\.isUnknown).flatMap(\.reasons))
        verdictByUser.revocationKnownUntil = ends.contains(nil) ? nil : ends.compactMap { $0 }.min()
        return verdictByUser
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}
