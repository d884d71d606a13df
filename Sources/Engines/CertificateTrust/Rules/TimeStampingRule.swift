// SPDX-License-Identifier: Apache-2.0

/// Who signs times signs nothing else, and says so critically (RFC 3161, section 2.3).
struct TimeStampingRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let extensions = chain.leaf.extensions
        guard extensions.extendedKeyUsages == [.timeStamping], extensions[.extendedKeyUsage]?.isCritical == true else {
            throw TrustFailure(
                .extendedKeyUsage, at: 0, "timeStamping is not its only extended key usage, or is not critical")
        }
    }
}
