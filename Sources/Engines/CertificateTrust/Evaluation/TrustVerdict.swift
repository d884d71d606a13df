// SPDX-License-Identifier: Apache-2.0

/// A judgement with its reasons.
public struct TrustVerdict: Sendable {
    public let result: TrustResult
    /// The leaf first. Where nothing is trusted: of the attempt that came furthest.
    public let chain: [Certificate]
    /// What is wrong with that chain, also where it was overlooked; empty where nothing is.
    public let failures: [TrustFailure]
    /// Whatever was tried and not accepted, in its order.
    public let attempts: [ChainAttempt]
    /// The moment that was judged for, in seconds since 1970.
    public let moment: Double

    /// Until when every certificate below the anchor is known not to be revoked, in seconds since 1970; nil where one is not known to be.
    public internal(set) var revocationKnownUntil: Double?

    /// Why the chain is not trusted; nil where it is.
    public var failure: TrustFailure? { result.isTrusted ? nil : failures.first }

    /// - Parameter isOverlooked: whether a failure about a certificate, of those that anybody may overlook, counts for nothing.
    init(_ search: ChainVerdict, _ leaf: Certificate, at moment: Double, isOverlooked: (TrustFailure, Certificate) -> Bool) {
        let best = search.chain == nil ? search.best : nil
        let (chain, failures) = (search.chain?.certificates ?? best?.certificates ?? [leaf], best?.failures ?? [])
        let isWaived = failures.allSatisfy { isOverlooked($0, chain[min($0.index, chain.count - 1)]) }
        let result: TrustResult =
            if search.chain != nil {
                .unspecified
            } else if failures.contains(where: { $0.rule == .denied }) {
                .deny
            } else if failures.isEmpty || failures.contains(where: { !$0.rule.isRecoverable }) {
                .fatalTrustFailure
            } else {
                isWaived ? .proceed : .recoverableTrustFailure
            }
        self.init(result, chain, failures, search.attempts, moment)
    }

    private init(_ result: TrustResult, _ chain: [Certificate], _ failures: [TrustFailure], _ attempts: [ChainAttempt], _ moment: Double) {
        (self.result, self.chain, self.failures, self.attempts, self.moment) = (result, chain, failures, attempts, moment)
    }

    /// The same, where it is trusted by the user's word.
    var byUser: TrustVerdict { TrustVerdict(result == .unspecified ? .proceed : result, chain, failures, attempts, moment) }

    /// That there is nothing to be judged.
    init(nothing moment: Double) {
        self.moment = moment
        (result, chain, attempts) = (.fatalTrustFailure, [], [])
        failures = [TrustFailure(.untrusted, at: 0, "there is no certificate")]
    }

    /// A failure in words, with whom it is about: `the certificate of example.com: it held until …`.
    public func sentence(_ failure: TrustFailure) -> String {
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
        case .expired, .notYetValid, .serverName, .mailAddress, .untrusted, .extendedKeyUsage, .keyUsage, .validityPeriod, .endEntity,
            .revocationUnknown:
            true
        case .authority, .algorithm, .budget, .certificatePolicy, .denied, .emptyName, .form, .key, .keyIdentifier, .nameConstraints,
            .pathLength,
            .revoked, .serialNumber, .signature, .signingUsage, .unknownCriticalExtension:
            false
        }
    }
}
