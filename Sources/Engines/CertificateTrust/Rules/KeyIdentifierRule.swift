// SPDX-License-Identifier: Apache-2.0

/// Checks that the authority key identifier of a certificate matches its issuer (RFC 5280, sections
/// 4.2.1.1 and 4.2.1.2).
struct KeyIdentifierRule: IssuerRule {
    func check(_ issuer: Certificate, of certificate: Certificate, at index: Int, isAnchor: Bool) throws(TrustFailure) {
        guard let named = certificate.extensions.authorityKeyIdentifier, let wanted = named.keyIdentifier else {
            throw TrustFailure(.keyIdentifier, at: index - 1, "it has no authority key identifier")
        }
        if let own = issuer.extensions.subjectKeyIdentifier {
            guard own == wanted else {
                throw TrustFailure(
                    .keyIdentifier, at: index, "its subject key identifier does not match the certificate below")
            }
        } else if !isAnchor {
            // Some anchors of the web have none.
            throw TrustFailure(.keyIdentifier, at: index, "a CA certificate has no subject key identifier")
        }
        guard named.serialNumber.map({ $0 == issuer.serialNumber }) ?? true,
            named.issuer.map({ issuer.isIssued(by: $0) }) ?? true
        else {
            throw TrustFailure(
                .keyIdentifier, at: index, "its issuer or serial number does not match the certificate below")
        }
    }
}

extension Certificate {
    fileprivate func isIssued(by names: [GeneralName]) -> Bool {
        names.contains { if case .directory(let name) = $0 { name.matches(issuer) } else { false } }
    }
}
