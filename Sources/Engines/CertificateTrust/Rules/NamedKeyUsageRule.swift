// SPDX-License-Identifier: Apache-2.0

/// The leaf says what its key may be used for, and names one of these uses at least.
struct NamedKeyUsageRule: ChainRule {
    let usages: KeyUsage

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let (found, usages) = (chain.leaf.extensions.keyUsage, usages)
        guard found?.isDisjoint(with: usages) ?? true else { return }
        throw TrustFailure(
            .keyUsage, at: 0,
            "its key usage is \(found?.description ?? "not given"), and one of \(usages) was asked for")
    }
}
