// SPDX-License-Identifier: Apache-2.0

/// A certificate says which key of its issuer has signed it, and it is this one (RFC 5280, sections 4.2.1.1 and 4.2.1.2).
struct KeyIdentifierRule: IssuerRule {
    func check(_ issuer: Certificate, of certificate: Certificate, at index: Int, isAnchor: Bool) throws(TrustFailure) {
        guard let named = certificate.extensions.authorityKeyIdentifier, let wanted = named.keyIdentifier else {
            throw TrustFailure(.keyIdentifier, at: index - 1, "it does not say which key of its issuer has signed it")
        }
        if let own = issuer.extensions.subjectKeyIdentifier {
            guard own == wanted else {
                throw TrustFailure(
                    .keyIdentifier, at: index, "its key has another identifier than the certificate below names")
            }
        } else if !isAnchor {
            // Of the web's anchors some have none.
            throw TrustFailure(.keyIdentifier, at: index, "an authority's key has no identifier")
        }
        guard named.serialNumber.map({ $0 == issuer.serialNumber }) ?? true,
            named.issuer.map({ issuer.isIssued(by: $0) }) ?? true
        else {
            throw TrustFailure(
                .keyIdentifier, at: index, "it has another issuer or number than the certificate below names")
        }
    }
}

extension Certificate {
    fileprivate func isIssued(by names: [GeneralName]) -> Bool {
        names.contains { if case .directory(let name) = $0 { name.matches(issuer) } else { false } }
    }
}
