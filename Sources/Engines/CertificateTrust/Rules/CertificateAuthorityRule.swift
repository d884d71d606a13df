// SPDX-License-Identifier: Apache-2.0

/// Checks that an issuer is a CA and that its key may sign certificates (RFC 5280, sections
/// 4.2.1.3, 4.2.1.9 and 6.1.4 k and n).
struct CertificateAuthorityRule: IssuerRule {
    func check(_ issuer: Certificate, of certificate: Certificate, at index: Int, isAnchor: Bool) throws(TrustFailure) {
        let constraints = issuer.extensions.basicConstraints
        // Anchors from before 2000 have version 1, without extensions, and are accepted.
        guard constraints != nil || isAnchor && issuer.version < 3 else {
            throw TrustFailure(.authority, at: index, "it is not a CA: it has no basic constraints")
        }
        guard constraints?.isCA != false else {
            throw TrustFailure(.authority, at: index, "it is not a CA: its basic constraints say so")
        }
        // Some anchors of the web have non-critical basic constraints.
        guard isAnchor || issuer.extensions[.basicConstraints]?.isCritical == true else {
            throw TrustFailure(.authority, at: index, "its basic constraints must be critical")
        }
        guard issuer.extensions.keyUsage?.contains(.keyCertSign) ?? true else {
            throw TrustFailure(.signingUsage, at: index, "its key usage does not allow it to sign certificates")
        }
    }
}
