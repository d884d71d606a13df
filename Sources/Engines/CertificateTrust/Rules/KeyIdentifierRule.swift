// SPDX-License-Identifier: Apache-2.0

/// Checks that the authority key identifier of a certificate matches its issuer, where both have one
/// (RFC 5280, sections 4.2.1.1 and 4.2.1.2).
struct KeyIdentifierRule: IssuerRule {
    func check(_ issuer: Certificate, of certificate: Certificate, at index: Int, isAnchor: Bool) throws(TrustFailure) {
        guard let named = certificate.extensions.authorityKeyIdentifier else { return }
        if let wanted = named.keyIdentifier, let own = issuer.extensions.subjectKeyIdentifier, own != wanted {
            throw TrustFailure(
                .keyIdentifier, at: index, "its subject key identifier does not match the certificate below")
        }
        guard named.serialNumber.map({ $0 == issuer.serialNumber }) ?? true,
            named.issuer.map({ issuer.isIssued(by: $0) }) ?? true
        else {
            throw TrustFailure(
                .keyIdentifier, at: index, "its issuer or serial number does not match the certificate below")
        }
    }
}

/// Checks that the certificates of a chain have the key identifiers that RFC 5280 requires (sections
/// 4.2.1.1 and 4.2.1.2).
///
/// CAs that are made by hand often omit them, and Apple's verifier requires none. They are therefore required only
/// below the anchors of the system, because the CAs there must conform.
struct KeyIdentifierPresenceRule: ChainRule {
    /// The anchors that the program or the user has chosen.
    let chosen: Set<Certificate>

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard let anchor = chain.certificates.last, !chosen.contains(anchor) else { return }
        for (index, certificate) in chain.certificates.dropLast().enumerated() {
            guard certificate.extensions.authorityKeyIdentifier?.keyIdentifier != nil else {
                throw TrustFailure(.keyIdentifier, at: index, "it has no authority key identifier")
            }
            // Some anchors of the web have none of their own.
            guard index == 0 || certificate.extensions.subjectKeyIdentifier != nil else {
                throw TrustFailure(.keyIdentifier, at: index, "a CA certificate has no subject key identifier")
            }
        }
    }
}

extension Certificate {
    fileprivate func isIssued(by names: [GeneralName]) -> Bool {
        names.contains { if case .directory(let name) = $0 { name.matches(issuer) } else { false } }
    }
}
