// SPDX-License-Identifier: Apache-2.0

/// A rule that a whole chain keeps or breaks; its signatures hold when it is asked.
protocol ChainRule: Sendable {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure)
}
