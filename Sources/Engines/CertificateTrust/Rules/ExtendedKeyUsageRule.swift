// SPDX-License-Identifier: Apache-2.0

/// Checks that the leaf is for an extended key usage, and that no certificate above it is
/// restricted to others (RFC 5280, section 4.2.1.12; Baseline Requirements, section 7.1.2).
struct ExtendedKeyUsageRule: ChainRule {
    let usage: ObjectIdentifier
    /// Whether the leaf must name the usage. If false, a leaf without the extension, or with
    /// `anyExtendedKeyUsage`, is accepted.
    let isNamed: Bool

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            let mustName = isNamed && index == 0
            guard let usages = certificate.extensions.extendedKeyUsages else {
                guard !mustName else {
                    throw TrustFailure(
                        .extendedKeyUsage, at: index, "it has no extended key usage; \(usage.usageName) is required"
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
