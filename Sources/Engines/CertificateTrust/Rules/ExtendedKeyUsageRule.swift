// SPDX-License-Identifier: Apache-2.0

/// The leaf is for this use, and nobody above it is kept to others (RFC 5280, section 4.2.1.12; Baseline Requirements, section 7.1.2).
struct ExtendedKeyUsageRule: ChainRule {
    let usage: ObjectIdentifier
    /// Whether the leaf has to name the use. A leaf that names none, or any, is for it otherwise.
    let isNamed: Bool

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            let mustName = isNamed && index == 0
            guard let usages = certificate.extensions.extendedKeyUsages else {
                guard !mustName else {
                    throw TrustFailure(
                        .extendedKeyUsage, at: index, "it names no extended key usage, and \(usage.usageName) is needed"
                    )
                }
                continue
            }
            guard usages.contains(usage) || !mustName && usages.contains(.anyExtendedKeyUsage) else {
                throw TrustFailure(.extendedKeyUsage, at: index, "its extended key usages lack \(usage.usageName)")
            }
        }
    }
}
