// SPDX-License-Identifier: Apache-2.0

/// Checks that the leaf is not a CA certificate, unless the leaf is itself the anchor (Baseline
/// Requirements, section 7.1.2.7).
struct EndEntityRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard chain.certificates.count > 1, chain.leaf.extensions.basicConstraints?.isCA == true else { return }
        throw TrustFailure(
            .endEntity, at: 0, "it is a CA certificate; an end-entity certificate of a server is required")
    }
}
