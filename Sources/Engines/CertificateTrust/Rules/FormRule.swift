// SPDX-License-Identifier: Apache-2.0

/// Every certificate can be read in full, says nothing critical that is not understood, and what it says is of one piece.
struct FormRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            let isAnchor = index == chain.certificates.count - 1
            if let defect = certificate.defects.first { throw TrustFailure(.form, at: index, defect) }
            if let unknown = certificate.extensions.unknownCritical.first {
                throw TrustFailure(.unknownCriticalExtension, at: index, "the extension \(unknown) is critical, and not understood")
            }
            try checkNames(certificate, index)
            // An anchor is trusted whatever its number is, and whatever it says about others: old ones have 0.
            guard index == 0 || !isAnchor else { continue }
            try checkSerialNumber(certificate, index)
            try checkCriticality(certificate, index)
            try checkUsage(certificate, index)
        }
    }

    private func checkNames(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        if certificate.issuer.isEmpty { throw TrustFailure(.emptyName, at: index, "its issuer has no name") }
        guard certificate.subject.isEmpty else { return }
        guard index == 0 else { throw TrustFailure(.emptyName, at: index, "an authority has no name") }
        // RFC 5280, section 4.1.2.6.
        guard certificate.extensions[.subjectAlternativeName]?.isCritical == true else {
            throw TrustFailure(.emptyName, at: index, "its subject has no name, and its alternative names are not critical")
        }
    }

    private func checkSerialNumber(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        let number = certificate.serialNumber
        guard let first = number.first, first < 0x80, number.contains(where: { $0 != 0 }) else {
            throw TrustFailure(.serialNumber, at: index, "its serial number is not positive")
        }
        guard number.count <= 20 else {
            throw TrustFailure(.serialNumber, at: index, "its serial number has \(number.count) bytes, more than 20")
        }
    }

    /// RFC 5280, section 4.2: which extensions are never critical, and which always.
    private func checkCriticality(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        for each in certificate.extensions.all {
            let expected: Bool? =
                switch each.identifier {
                case .subjectKeyIdentifier, .authorityKeyIdentifier, .authorityInformationAccess: false
                case .policyConstraints, .inhibitAnyPolicy: true
                default: nil
                }
            guard let expected, each.isCritical != expected else { continue }
            throw TrustFailure(
                .form, at: index,
                "the extension \(each.identifier) is \(expected ? "not critical, and has" : "critical, and has not") to be")
        }
    }

    /// RFC 5280, section 4.2.1.9: whose key signs certificates is an authority.
    private func checkUsage(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        guard certificate.extensions.keyUsage?.contains(.keyCertSign) == true else { return }
        guard certificate.extensions.basicConstraints?.isAuthority == true else {
            throw TrustFailure(.signingUsage, at: index, "its key may sign certificates, and it is no authority")
        }
    }
}
