// SPDX-License-Identifier: Apache-2.0

/// No authority has more authorities below it than it allows (RFC 5280, sections 4.2.1.9 and 6.1.4 l and m).
struct PathLengthRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        // How many intermediates stand below; those that name themselves as their issuer do not count.
        var below = 0
        for (index, certificate) in chain.certificates.enumerated().dropFirst() {
            if let limit = certificate.extensions.basicConstraints?.pathLength, below > limit {
                let found = below
                throw TrustFailure(
                    .pathLength, at: index, "it allows for \(limit) intermediates below it, and there are \(found)")
            }
            if !certificate.isSelfIssued { below += 1 }
        }
    }
}
