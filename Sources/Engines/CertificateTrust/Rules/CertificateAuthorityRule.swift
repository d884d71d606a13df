// SPDX-License-Identifier: Apache-2.0

/// Who issues a certificate may (RFC 5280, sections 4.2.1.3, 4.2.1.9 and 6.1.4 k and n).
struct CertificateAuthorityRule: IssuerRule {
    func check(_ issuer: Certificate, of certificate: Certificate, at index: Int, isAnchor: Bool) throws(TrustFailure) {
        let constraints = issuer.extensions.basicConstraints
        // Anchors of before 2000 are of version 1, and trusted for what they are.
        guard constraints != nil || isAnchor && issuer.version < 3 else {
            throw TrustFailure(.authority, at: index, "it does not say that it is an authority")
        }
        guard constraints?.isCA != false else {
            throw TrustFailure(.authority, at: index, "it says that it is no authority")
        }
        // Of the web's anchors some say it by the way.
        guard isAnchor || issuer.extensions[.basicConstraints]?.isCritical == true else {
            throw TrustFailure(.authority, at: index, "that it is an authority is not critical")
        }
        guard issuer.extensions.keyUsage?.contains(.keyCertSign) ?? true else {
            throw TrustFailure(.signingUsage, at: index, "its key may not sign certificates")
        }
    }
}
