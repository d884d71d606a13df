// SPDX-License-Identifier: Apache-2.0

/// A judgement with its reasons.
public struct TrustVerdict: Sendable {
    /// Whether the chain is trusted, by every rule or by the user's word.
    public let isTrusted: Bool
    /// The leaf first. Where nothing is trusted: of the attempt that came furthest.
    public let chain: [Certificate]
    /// The moment that was judged for, in seconds since 1970.
    public let validationTime: Double

    /// The search. What a caller seldom asks for, everything that is wrong with a chain that is refused, it finds when it is read.
    private let search: ChainSearchResult
    private let acceptance: TrustResult

    /// Until when every certificate below the anchor is known not to be revoked, in seconds since 1970; nil where one is not known to be.
    public internal(set) var revocationKnownUntil: Double?

    /// - Parameter isIgnored: whether a failure about a certificate, of those that anybody may overlook, counts for nothing.
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
        // The first failure is known already and mostly decides; the others cost signature checks.
        isTrusted =
            search.chain != nil
            || search.failure.map(isWaived) == true && search.best?.failures.allSatisfy(isWaived) == true
    }

    private init(_ verdict: TrustVerdict, acceptance: TrustResult) {
        (search, chain, validationTime, isTrusted) = (
            verdict.search, verdict.chain, verdict.validationTime, verdict.isTrusted
        )
        self.acceptance = acceptance
        revocationKnownUntil = verdict.revocationKnownUntil
    }

    /// The same, where it is trusted by the user's word.
    var acceptedByUser: TrustVerdict { TrustVerdict(self, acceptance: .proceed) }

    /// That there is nothing to be judged.
    init(noCertificatesAt validationTime: Double) {
        let failure = TrustFailure(.untrusted, at: 0, "there is no certificate")
        self.init(
            ChainSearchResult(chain: nil, failedAttempts: [ChainAttempt([], stoppedBy: [failure])]), [], validationTime
        ) { _, _ in false }
    }

    public var result: TrustResult {
        if isTrusted { return acceptance }
        let failures = failures
        if failures.contains(where: { $0.rule == .denied }) { return .deny }
        return chain.isEmpty || failures.contains { !$0.rule.isRecoverable }
            ? .fatalTrustFailure : .recoverableTrustFailure
    }

    /// Why the chain is not trusted; nil where it is.
    public var failure: TrustFailure? { isTrusted ? nil : search.failure }

    /// What is wrong with the chain, also where it was overlooked; empty where nothing is.
    public var failures: [TrustFailure] { search.best?.failures ?? [] }

    /// Whatever was tried and not accepted, in its order.
    public var attempts: [ChainAttempt] { search.attempts }

    /// The last certificate of each attempt.
    var ends: [Certificate] { search.failedAttempts.compactMap(\.certificates.last) }

    /// Whether anything that is wrong with the chain is of such a kind.
    func hasFailure(where isOfKind: (TrustRule) -> Bool) -> Bool {
        search.failure.map { isOfKind($0.rule) } == true || failures.contains { isOfKind($0.rule) }
    }

    /// A failure in words, with whom it is about: `the certificate of example.com: it held until …`.
    public func explanation(_ failure: TrustFailure) -> String {
        guard chain.indices.contains(failure.index) else { return failure.explanation }
        let certificate = chain[failure.index]
        return "the certificate of \(certificate.subjectSummary ?? "nobody named"): \(failure.explanation)"
    }

    /// What the user would have to overlook for this chain to be trusted; nil where nobody may.
    public var exceptions: TrustExceptions? {
        failures.allSatisfy(\.rule.isRecoverable) && !chain.isEmpty ? TrustExceptions(failures, of: chain) : nil
    }
}

extension TrustRule {
    /// Whether a setting may allow it once and for all: never that nobody trusted is the issuer.
    public var isAllowable: Bool { isRecoverable && self != .untrusted }

    /// Whether a user may overlook that it is broken: what is wrong is known then, and it is about time, names, uses or who is trusted.
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
            .unknownCriticalExtension:
            false
        }
    }
}
