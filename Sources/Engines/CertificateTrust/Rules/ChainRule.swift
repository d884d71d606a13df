// SPDX-License-Identifier: Apache-2.0

/// A rule that a whole chain keeps or breaks; its signatures hold when it is asked.
protocol ChainRule: Sendable {
    /// - Throws: the first failure.
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure)

    /// Every failure that may be overlooked by itself; the first alone where that is not asked of a rule.
    ///
    /// - Throws: where the budget is spent.
    func failures(of chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) -> [TrustFailure]
}

extension ChainRule {
    func failures(of chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) -> [TrustFailure] {
        do throws(TrustFailure) {
            try check(chain, &budget)
            return []
        } catch {
            guard error.rule != .budget else { throw error }
            return [error]
        }
    }
}
