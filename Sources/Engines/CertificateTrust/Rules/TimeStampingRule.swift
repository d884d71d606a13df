// SPDX-License-Identifier: Apache-2.0

/// Checks that timeStamping is the leaf's only extended key usage, and critical (RFC 3161, section
/// 2.3).
struct TimeStampingRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let extensions = chain.leaf.extensions
        guard extensions.extendedKeyUsages == [.timeStamping], extensions[.extendedKeyUsage]?.isCritical == true else {
            throw TrustFailure(
                .extendedKeyUsage, at: 0, "timeStamping must be its only extended key usage, and critical")
        }
    }
}
