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

    /// A kind of work.
    enum Work { case signatureCheck, step, chain, nameComparison }

    /// - Throws: if less than `count` remains.
    mutating func spend(_ work: Work, _ count: Int = 1) throws(TrustFailure) {
        switch work {
        case .signatureCheck: try Self.take(count, of: &signatureChecks)
        case .step: try Self.take(count, of: &steps)
        case .chain: try Self.take(count, of: &chains)
        case .nameComparison: try Self.take(count, of: &nameComparisons)
        }
    }

    private static func take(_ count: Int, of remaining: inout Int) throws(TrustFailure) {
        guard remaining >= count else {
            throw TrustFailure(.budget, at: 0, "the certificates need more work than one verdict may cost")
        }
        remaining -= count
    }
}
