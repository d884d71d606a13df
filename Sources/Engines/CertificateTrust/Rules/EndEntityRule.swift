// SPDX-License-Identifier: Apache-2.0

/// The leaf is no authority, unless it is trusted itself (Baseline Requirements, section 7.1.2.7).
struct EndEntityRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard chain.certificates.count > 1, chain.leaf.extensions.basicConstraints?.isCA == true else { return }
        throw TrustFailure(.endEntity, at: 0, "it is an authority's certificate, and one of a server was asked for")
    }
}
