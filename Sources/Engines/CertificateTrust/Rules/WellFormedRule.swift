// SPDX-License-Identifier: Apache-2.0

/// Every certificate can be read in full, says nothing critical that is not understood, and what it says is of one piece.
struct WellFormedRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            let isAnchor = index == chain.certificates.count - 1
            if let defect = certificate.defects.first { throw TrustFailure(.form, at: index, defect) }
            if let unknown = certificate.extensions.unknownCritical.first {
                throw TrustFailure(
                    .unknownCriticalExtension, at: index, "the extension \(unknown) is critical, and not understood")
            }
            try checkNames(certificate, index)
            // An anchor is trusted for what it is: old ones have the serial number 0. No anchor of the web has a critical key identifier.
            let isTrustedForm = index > 0 && isAnchor
            try checkCriticality(certificate, index, isAnchor: isTrustedForm)
            guard !isTrustedForm else { continue }
            try checkSerialNumber(certificate, index)
            try checkUsage(certificate, index)
        }
    }

    private func checkNames(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        if certificate.issuer.isEmpty { throw TrustFailure(.emptyName, at: index, "its issuer has no name") }
        guard certificate.subject.isEmpty else { return }
        guard index == 0 else { throw TrustFailure(.emptyName, at: index, "an authority has no name") }
        // RFC 5280, section 4.1.2.6.
        guard certificate.extensions[.subjectAlternativeName]?.isCritical == true else {
            throw TrustFailure(
                .emptyName, at: index, "its subject has no name, and its alternative names are not critical")
        }
    }

    private func checkSerialNumber(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        let number = certificate.serialNumber
        guard number.contains(where: { $0 != 0 }) else {
            throw TrustFailure(.serialNumber, at: index, "its serial number is 0, and must be positive")
        }
        guard let first = number.first, first < 0x80 else {
            throw TrustFailure(.serialNumber, at: index, "its serial number is negative, and must be positive")
        }
        guard number.count <= Self.maxSerialNumberLength else {
            throw TrustFailure(
                .serialNumber, at: index,
                "its serial number has \(number.count) bytes, and at most \(Self.maxSerialNumberLength) are allowed")
        }
    }

    /// RFC 5280, section 4.1.2.2: 20 octets, the one that keeps a number positive included.
    private static let maxSerialNumberLength = 20

    /// RFC 5280, section 4.2: which extensions are never critical, and which always. Of an anchor the key identifiers alone.
    private func checkCriticality(_ certificate: Certificate, _ index: Int, isAnchor: Bool) throws(TrustFailure) {
        for each in certificate.extensions.all {
            let expected: Bool? =
                switch each.identifier {
                case .subjectKeyIdentifier, .authorityKeyIdentifier: false
                case .authorityInformationAccess where !isAnchor: false
                case .policyConstraints where !isAnchor, .inhibitAnyPolicy where !isAnchor: true
                default: nil
                }
            guard let expected, each.isCritical != expected else { continue }
            throw TrustFailure(
                .form, at: index,
                "the extension \(each.identifier) is \(expected ? "not critical, and must be" : "critical, and must not be")"
            )
        }
    }

    /// RFC 5280, section 4.2.1.9: whose key signs certificates is an authority.
    private func checkUsage(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        guard certificate.extensions.keyUsage?.contains(.keyCertSign) == true else { return }
        guard certificate.extensions.basicConstraints?.isCA == true else {
            throw TrustFailure(.signingUsage, at: index, "its key may sign certificates, and it is no authority")
        }
    }
}
