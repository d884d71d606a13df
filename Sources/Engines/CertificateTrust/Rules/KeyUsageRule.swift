// SPDX-License-Identifier: Apache-2.0

/// Checks that the leaf's key usage, if it has one, contains at least one of the required usages.
struct KeyUsageRule: ChainRule {
    let usages: KeyUsage

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard let usage = chain.leaf.extensions.keyUsage, usage.isDisjoint(with: usages) else { return }
        throw TrustFailure(.keyUsage, at: 0, "its key usage must contain one of \(usages), found \(usage)")
    }
}
