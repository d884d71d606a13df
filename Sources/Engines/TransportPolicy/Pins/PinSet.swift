// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// The pins of a domain: the requirements on a validated chain, their expiration, and the effect of a failure.
public struct PinSet: Hashable, Sendable {
    public let rule: DomainRule
    /// All of them must be satisfied; one for each placement at most.
    public let requirements: [PinRequirement]
    public let expiration: Expiration?
    public let enforcement: Enforcement

    /// The time when the pins expire, and the rule afterwards.
    public struct Expiration: Hashable, Sendable {
        /// Seconds since 1970; the pins are valid before it.
        public let time: Double
        public let afterwards: Afterwards

        public enum Afterwards: String, Hashable, Sendable {
            /// Connections are made without pins.
            case open
            /// No connection is made.
            case closed
        }

        public init(at time: Double, afterwards: Afterwards) { (self.time, self.afterwards) = (time, afterwards) }
    }

    public enum Enforcement: String, Hashable, Sendable {
        case enforced
        /// A failure is reported, and the connection is made.
        case reportOnly
    }

    /// - Parameters:
    ///   - requirements: the leaf, a CA, or both. If both are given, both must be satisfied.
    ///   - requiresBackup: whether each requirement must have at least two pins, so that a key can be
    ///     replaced without a new release of the program (RFC 7469, section 4.3).
    /// - Throws: if there is no requirement, two have the same placement, or a backup pin is missing.
    public init(
        _ rule: DomainRule, _ requirements: [PinRequirement], requiresBackup: Bool = true,
        expiration: Expiration? = nil, enforcement: Enforcement = .enforced
    ) throws(TransportPolicyError) {
        guard !requirements.isEmpty else { throw TransportPolicyError("\(rule.domain) has no pins") }
        guard Set(requirements.map(\.placement)).count == requirements.count else {
            throw TransportPolicyError("\(rule.domain) has two lists of pins for the same place")
        }
        if let expiration, !expiration.time.isFinite {
            throw TransportPolicyError("the expiration of the pins of \(rule.domain) must be a date")
        }
        if requiresBackup, let single = requirements.first(where: { $0.pins.count < 2 }) {
            throw TransportPolicyError(
                "\(rule.domain) has only one pin for \(single.placement.text)",
                hint: "add the pin of a backup key that is not in use")
        }
        (self.rule, self.requirements) = (rule, requirements)
        (self.expiration, self.enforcement) = (expiration, enforcement)
    }

    /// Compares a chain with the pins.
    ///
    /// - Parameters:
    ///   - served: the certificates that the server sent, leaf first; only for the explanation of a failure.
    ///   - time: seconds since 1970. If it is not a number, the pins have not expired.
    public func verdict(of chain: ValidatedChain, served: [Certificate], at time: Double) -> PinVerdict {
        if let expiration, time >= expiration.time {
            return expiration.afterwards == .open ? .expired : refusal(.expired, chain, served)
        }
        let matches = requirements.map { ($0, $0.matches(in: chain)) }
        let unsatisfied = matches.filter(\.1.isEmpty).map(\.0.placement)
        guard unsatisfied.isEmpty else { return refusal(.mismatch(unsatisfied), chain, served) }
        let hasBackup = matches.allSatisfy { requirement, matched in requirement.pins.count > matched.count }
        return .matched(hasBackup: hasBackup)
    }

    /// Whether a connection that cannot be compared with pins, one without TLS, is refused.
    func refusesPlainConnections(at time: Double) -> Bool {
        if let expiration, time >= expiration.time, expiration.afterwards == .open { return false }
        return enforcement == .enforced
    }

    private func refusal(_ reason: PinFailure.Reason, _ chain: ValidatedChain, _ served: [Certificate]) -> PinVerdict {
        let failure = PinFailure(self, reason, chain, served)
        return enforcement == .enforced ? .refused(failure) : .reported(failure)
    }
}
