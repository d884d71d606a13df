// SPDX-License-Identifier: Apache-2.0

/// The result of a trust evaluation, with its reasons.
public struct TrustVerdict: Sendable {
    /// Whether the chain is trusted, because it satisfies every rule or because the user accepted
    /// it.
    public let isTrusted: Bool
    /// The chain, leaf first; if it is not trusted, the certificates of the best attempt.
    public let chain: [Certificate]
    /// The time that the chain was checked for, in seconds since 1970.
    public let validationTime: Double

    /// The chain search. It finds all failures of a rejected chain only when they are read, because
    /// few callers need them.
    private let search: ChainSearchResult
    private let acceptance: TrustResult

    /// The time until which every certificate below the anchor is known not to be revoked, in
    /// seconds since 1970; nil if this is not known of one.
    public internal(set) var revocationKnownUntil: Double?
    /// Why revocation evidence is missing or was not used, such as a CRL that cannot be read; one
    /// sentence each. A certificate without evidence is trusted, unless evidence is required.
    public internal(set) var revocationProblems: [String] = []

    /// - Parameter isIgnored: whether a recoverable failure of a certificate is ignored.
    init(
        _ search: ChainSearchResult, _ leaf: Certificate, at validationTime: Double,
        isIgnored: (TrustFailure, Certificate) -> Bool
    ) {
        self.init(
            search, search.chain?.certificates ?? search.bestFailedAttempt?.certificates ?? [leaf], validationTime,
            isIgnored)
    }

    private init(
        _ search: ChainSearchResult, _ chain: [Certificate], _ validationTime: Double,
        _ isIgnored: (TrustFailure, Certificate) -> Bool
    ) {
        (self.search, self.chain, self.validationTime, acceptance) = (
            search, chain, validationTime, search.chain == nil ? .proceed : .unspecified
        )
        func isWaived(_ failure: TrustFailure) -> Bool {
            guard failure.rule.isRecoverable, !chain.isEmpty else { return false }
            return isIgnored(failure, chain[min(failure.index, chain.count - 1)])
        }
        // The first failure is known already and usually decides; finding the others costs
        // signature verifications.
        isTrusted =
            search.chain != nil
            || search.failure.map(isWaived) == true && search.best?.failures.allSatisfy(isWaived) == true
    }

    private init(_ verdict: TrustVerdict, acceptance: TrustResult) {
        (search, chain, validationTime, isTrusted) = (
            verdict.search, verdict.chain, verdict.validationTime, verdict.isTrusted
        )
        self.acceptance = acceptance
        (revocationKnownUntil, revocationProblems) = (verdict.revocationKnownUntil, verdict.revocationProblems)
    }

    /// The same verdict, trusted because of a decision of the user.
    var acceptedByUser: TrustVerdict { TrustVerdict(self, acceptance: .proceed) }

    /// The verdict for an empty list of certificates: not trusted.
    init(noCertificatesAt validationTime: Double) {
        let failure = TrustFailure(.untrusted, at: 0, "there is no certificate")
        self.init(
            ChainSearchResult(chain: nil, failedAttempts: [ChainAttempt([], stoppedBy: [failure])]), [], validationTime
        ) { _, _ in false }
    }

    /// The verdict if the trust settings cannot be read: the leaf is denied.
    init(denied leaf: Certificate, _ reason: String, at validationTime: Double) {
        let attempt = ChainAttempt([leaf], stoppedBy: [TrustFailure(.denied, at: 0, reason)])
        self.init(ChainSearchResult(chain: nil, failedAttempts: [attempt]), leaf, at: validationTime) { _, _ in false }
    }

    public var result: TrustResult {
        if isTrusted { return acceptance }
        let failures = failures
        if failures.contains(where: { $0.rule == .denied }) { return .deny }
        return chain.isEmpty || failures.contains { !$0.rule.isRecoverable }
            ? .fatalTrustFailure : .recoverableTrustFailure
    }

    /// Why the chain is not trusted; nil if it is.
    public var failure: TrustFailure? { isTrusted ? nil : search.failure }

    /// All failures of the chain, including ignored ones.
    public var failures: [TrustFailure] { search.best?.failures ?? [] }

    /// The failed attempts, in the order of the search.
    public var attempts: [ChainAttempt] { search.attempts }

    /// The last certificate of each attempt.
    var ends: [Certificate] { search.failedAttempts.compactMap(\.certificates.last) }

    /// Whether the rule of any failure of the chain matches.
    func hasFailure(where isOfKind: (TrustRule) -> Bool) -> Bool {
        search.failure.map { isOfKind($0.rule) } == true || failures.contains { isOfKind($0.rule) }
    }

    /// The explanation of a failure with the certificate's subject: `the certificate of
    /// example.com: expired at …`.
    public func explanation(_ failure: TrustFailure) -> String {
        guard chain.indices.contains(failure.index) else { return failure.explanation }
        let certificate = chain[failure.index]
        return "the certificate of \(certificate.subjectSummary ?? "an unnamed subject"): \(failure.explanation)"
    }

    /// The exceptions that would make this chain trusted; nil if a failure is not recoverable.
    public var exceptions: TrustExceptions? {
        failures.allSatisfy(\.rule.isRecoverable) && !chain.isEmpty ? TrustExceptions(failures, of: chain) : nil
    }
}

extension TrustRule {
    /// Whether a trust setting may allow failures of this rule. An untrusted issuer is never
    /// allowed.
    public var isAllowable: Bool { isRecoverable && self != .untrusted }

    /// Whether a user may accept failures of this rule: those about time, names, uses, or an
    /// untrusted issuer.
    public var isRecoverable: Bool {
        switch self {
        case .expired, .notYetValid, .serverName, .hostNameForm, .mailAddress, .untrusted, .extendedKeyUsage, .keyUsage,
            .validityPeriod,
            .endEntity,
            .revocationUnknown:
            true
        case .authority, .algorithm, .budget, .certificatePolicy, .denied, .emptyName, .form, .key, .keyIdentifier,
            .nameConstraints,
            .pathLength,
            .requiredAnchor, .requiredExtension, .requiredName, .revoked, .serialNumber, .signature, .signingUsage,
            .transparency,
            .unknownCriticalExtension:
            false
        }
    }
}
