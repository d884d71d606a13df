// SPDX-License-Identifier: Apache-2.0

/// The leaf's key may be used for what the policy needs: for one of these at least, where it says anything about it.
struct KeyUsageRule: ChainRule {
    let usages: KeyUsage

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard let usage = chain.leaf.extensions.keyUsage, usage.isDisjoint(with: usages) else { return }
        throw TrustFailure(.keyUsage, at: 0, "its key may be used for \(usage) only, and one of \(usages) is needed")
    }
}
