// SPDX-License-Identifier: Apache-2.0

/// Checks that every certificate has no defects, no unsupported critical extension, and consistent
/// fields.
struct WellFormedRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            let isAnchor = index == chain.certificates.count - 1
            if let defect = certificate.defects.first { throw TrustFailure(.form, at: index, defect) }
            if let unknown = certificate.extensions.unknownCritical.first {
                throw TrustFailure(
                    .unknownCriticalExtension, at: index, "the extension \(unknown) is critical, but not supported")
            }
            try checkNames(certificate, index)
            // Anchors are exempt from some checks, because old ones have the serial number 0. No
            // anchor of the web has a critical key identifier.
            let isTrustedForm = index > 0 && isAnchor
            try checkCriticality(certificate, index, isAnchor: isTrustedForm)
            guard !isTrustedForm else { continue }
            try checkSerialNumber(certificate, index)
            try checkUsage(certificate, index)
        }
    }

    private func checkNames(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        if certificate.issuer.isEmpty { throw TrustFailure(.emptyName, at: index, "its issuer is empty") }
        guard certificate.subject.isEmpty else { return }
        guard index == 0 else { throw TrustFailure(.emptyName, at: index, "the subject of a CA certificate is empty") }
        // RFC 5280, section 4.1.2.6.
        guard certificate.extensions[.subjectAlternativeName]?.isCritical == true else {
            throw TrustFailure(
                .emptyName, at: index, "its subject is empty, so its alternative names must be critical")
        }
    }

    private func checkSerialNumber(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        let number = certificate.serialNumber
        guard number.contains(where: { $0 != 0 }) else {
            throw TrustFailure(.serialNumber, at: index, "its serial number must be positive, found 0")
        }
        guard let first = number.first, first < 0x80 else {
            throw TrustFailure(.serialNumber, at: index, "its serial number must be positive, found a negative number")
        }
        guard number.count <= Self.maxSerialNumberLength else {
            throw TrustFailure(
                .serialNumber, at: index,
                "its serial number must have at most \(Self.maxSerialNumberLength) bytes, found \(number.count)")
        }
    }

    /// RFC 5280, section 4.1.2.2: 20 octets, including a leading zero that keeps the number
    /// positive.
    private static let maxSerialNumberLength = 20

    /// Checks the criticality that RFC 5280, section 4.2, requires; of an anchor, only that of the
    /// key identifiers.
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
                "the extension \(each.identifier) must \(expected ? "be critical" : "not be critical")"
            )
        }
    }

    /// Checks that a certificate with the key usage `keyCertSign` is a CA (RFC 5280, section 4.2.1.9).
    private func checkUsage(_ certificate: Certificate, _ index: Int) throws(TrustFailure) {
        guard certificate.extensions.keyUsage?.contains(.keyCertSign) == true else { return }
        guard certificate.extensions.basicConstraints?.isCA == true else {
            throw TrustFailure(.signingUsage, at: index, "its key usage has keyCertSign, but it is not a CA")
        }
    }
}
