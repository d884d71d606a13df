// SPDX-License-Identifier: Apache-2.0

/// Every certificate can be read in full, and says nothing critical that is not understood.
struct FormRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            if let defect = certificate.defects.first { throw TrustFailure(.form, at: index, defect) }
            if let unknown = certificate.extensions.unknownCritical.first {
                throw TrustFailure(.unknownCriticalExtension, at: index, "the extension \(unknown) is critical, and not understood")
            }
            try checkNames(certificate, index)
            // An anchor is trusted whatever its number is: old ones have 0.
            if index == 0 || index < chain.certificates.count - 1 { try checkSerialNumber(certificate, index) }
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
}
