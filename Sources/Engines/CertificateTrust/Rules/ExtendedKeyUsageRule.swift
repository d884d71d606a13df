// SPDX-License-Identifier: Apache-2.0

/// The leaf is for this use by name, and nobody above it is kept to others (RFC 5280, section 4.2.1.12; Baseline Requirements, section 7.1.2).
struct ExtendedKeyUsageRule: ChainRule {
    let usage: ObjectIdentifier

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard let usages = chain.leaf.extensions.extendedKeyUsages else {
            throw TrustFailure(.extendedKeyUsage, at: 0, "it names no extended key usage, and \(usage) is needed")
        }
        // A leaf that is for anything is for nothing in particular.
        guard usages.contains(usage) else {
            throw TrustFailure(.extendedKeyUsage, at: 0, "its extended key usages lack \(usage)")
        }
        for (index, certificate) in chain.certificates.enumerated().dropFirst() {
            guard let usages = certificate.extensions.extendedKeyUsages else { continue }
            guard usages.contains(usage) || usages.contains(.anyExtendedKeyUsage) else {
                throw TrustFailure(.extendedKeyUsage, at: index, "its extended key usages lack \(usage)")
            }
        }
    }
}
