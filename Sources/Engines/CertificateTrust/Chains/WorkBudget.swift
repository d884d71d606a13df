// SPDX-License-Identifier: Apache-2.0

/// The work that one verdict may cost, spent before it is done. What certificates ask for never makes a verdict slow.
struct WorkBudget {
    /// Chains of the web have 2 or 3 certificates, and need as many checks less one.
    private var signatureChecks = 64
    /// How many certificates may be put onto paths.
    private var steps = 1_000
    /// How many complete chains are put before the rules.
    private var chains = 64

    /// The longest chain, leaf and anchor included.
    static let depth = 12

    mutating func spend(_ work: WritableKeyPath<Self, Int>) throws(TrustFailure) {
        guard self[keyPath: work] > 0 else {
            throw TrustFailure(.budget, at: 0, "the certificates allow for more paths than are tried")
        }
        self[keyPath: work] -= 1
    }

    static var signatureCheck: WritableKeyPath<Self, Int> { \.signatureChecks }
    static var step: WritableKeyPath<Self, Int> { \.steps }
    static var chain: WritableKeyPath<Self, Int> { \.chains }
}
