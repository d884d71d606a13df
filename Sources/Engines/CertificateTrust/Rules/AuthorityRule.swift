// SPDX-License-Identifier: Apache-2.0

/// Who issues a certificate may (RFC 5280, sections 4.2.1.3, 4.2.1.9 and 6.1.4 k to n).
struct AuthorityRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        // How many intermediates stand below; those that name themselves as their issuer do not count.
        var below = 0
        for (index, certificate) in chain.certificates.enumerated().dropFirst() {
            if let failure = Self.failure(of: certificate, at: index, isAnchor: index == chain.certificates.count - 1) { throw failure }
            if let limit = certificate.extensions.basicConstraints?.pathLength, below > limit {
                throw TrustFailure(.pathLength, at: index, "it allows for \(limit) intermediates below it, and there are \(below)")
            }
            if !certificate.isSelfIssued { below += 1 }
        }
    }

    /// Why the certificate's key may not have signed another certificate; nil where it may.
    static func failure(of certificate: Certificate, at index: Int, isAnchor: Bool) -> TrustFailure? {
        // Anchors of before 2000 are of version 1, and trusted for what they are.
        if certificate.extensions.basicConstraints == nil, !isAnchor || certificate.version == 3 {
            return TrustFailure(.authority, at: index, "it does not say that it is an authority")
        }
        if certificate.extensions.basicConstraints?.isAuthority == false {
            return TrustFailure(.authority, at: index, "it says that it is no authority")
        }
        if let usage = certificate.extensions.keyUsage, !usage.contains(.keyCertSign) {
            return TrustFailure(.keyUsage, at: index, "its key may not sign certificates")
        }
        return nil
    }
}
