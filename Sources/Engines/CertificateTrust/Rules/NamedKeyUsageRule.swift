// SPDX-License-Identifier: Apache-2.0

/// Checks that the leaf has a key usage, and that it contains at least one of the required usages.
struct NamedKeyUsageRule: ChainRule {
    let usages: KeyUsage

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let (found, usages) = (chain.leaf.extensions.keyUsage, usages)
        guard found?.isDisjoint(with: usages) ?? true else { return }
        throw TrustFailure(
            .keyUsage, at: 0,
            "its key usage must contain one of \(usages), found \(found?.description ?? "none")")
    }
}
