// SPDX-License-Identifier: Apache-2.0

/// The maximum work for one verdict, charged before it is done. It bounds the time that hostile
/// certificates can cost.
struct WorkBudget: Equatable {
    /// The remaining signature verifications. A typical chain of 3 certificates needs 2.
    private var signatureChecks = 64
    /// The remaining certificates that may be considered as issuers or added to a path.
    private var steps = 2_000
    /// The remaining complete chains that may be checked.
    private var chains = 64
    /// The remaining comparisons of a name with a constraint.
    private var nameComparisons = 200_000

    /// The maximum length of a chain, including leaf and anchor.
    static let depth = 12

    mutating func spend(_ work: WritableKeyPath<Self, Int>, _ count: Int = 1) throws(TrustFailure) {
        guard self[keyPath: work] >= count else {
            throw TrustFailure(.budget, at: 0, "the certificates need more work than one verdict may cost")
        }
        self[keyPath: work] -= count
    }

    static var signatureCheck: WritableKeyPath<Self, Int> { \.signatureChecks }
    static var step: WritableKeyPath<Self, Int> { \.steps }
    static var nameComparison: WritableKeyPath<Self, Int> { \.nameComparisons }
    static var chain: WritableKeyPath<Self, Int> { \.chains }
}
