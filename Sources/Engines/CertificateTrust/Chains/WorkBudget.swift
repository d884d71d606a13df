// SPDX-License-Identifier: Apache-2.0

/// The work that one verdict may cost, spent before it is done. What certificates ask for never makes a verdict slow.
struct WorkBudget {
    /// Chains of the web have 2 or 3 certificates, and need as many checks less one.
    private var signatureChecks = 64
    /// How many certificates may be looked at as issuers or put onto paths.
    private var steps = 2_000
    /// How many complete chains are put before the rules.
    private var chains = 64
    /// How often a name is held against a constraint.
    private var nameComparisons = 200_000

    /// The longest chain, leaf and anchor included.
    static let depth = 12

    mutating func spend(_ work: WritableKeyPath<Self, Int>, _ count: Int = 1) throws(TrustFailure) {
        guard self[keyPath: work] >= count else {
            throw TrustFailure(.budget, at: 0, "the certificates ask for more work than a verdict may cost")
        }
        self[keyPath: work] -= count
    }

    static var signatureCheck: WritableKeyPath<Self, Int> { \.signatureChecks }
    static var step: WritableKeyPath<Self, Int> { \.steps }
    static var nameComparison: WritableKeyPath<Self, Int> { \.nameComparisons }
    static var chain: WritableKeyPath<Self, Int> { \.chains }
}
