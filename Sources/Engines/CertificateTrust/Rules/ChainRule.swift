// SPDX-License-Identifier: Apache-2.0

/// A rule about a whole chain. It is checked after the signatures of the chain were verified.
protocol ChainRule: Sendable {
    /// Checks the chain.
    ///
    /// - Throws: the first failure.
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure)

    /// Returns each failure that can be ignored separately; by default only the first.
    ///
    /// - Throws: if the budget is exhausted.
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
