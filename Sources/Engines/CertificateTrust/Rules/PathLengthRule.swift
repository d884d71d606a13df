// SPDX-License-Identifier: Apache-2.0

/// Checks that no CA has more intermediates below it than its path length constraint allows (RFC
/// 5280, sections 4.2.1.9 and 6.1.4 l and m).
struct PathLengthRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        // The number of intermediates below; self-issued ones do not count.
        var below = 0
        for (index, certificate) in chain.certificates.enumerated().dropFirst() {
            if let limit = certificate.extensions.basicConstraints?.pathLength, below > limit {
                let found = below
                throw TrustFailure(
                    .pathLength, at: index, "it allows at most \(limit) intermediates below it, found \(found)")
            }
            if !certificate.isSelfIssued { below += 1 }
        }
    }
}
