// SPDX-License-Identifier: Apache-2.0

/// RFC 5280, section 4.1.2.5: every certificate of the chain holds at the moment, the anchor included.
struct ValidityRule: ChainRule {
    /// Seconds since 1970.
    let validationTime: Double

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        if let first = failures(of: chain).first { throw first }
    }

    // Of each certificate: whoever overlooks that the leaf has expired has not agreed to an intermediate that has.
    func failures(of chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) -> [TrustFailure] {
        failures(of: chain)
    }

    private func failures(of chain: Chain) -> [TrustFailure] {
        let now = now
        return chain.certificates.enumerated().compactMap { index, certificate in
            let validity = certificate.validity
            guard validity.hasStarted(at: validationTime) else {
                return TrustFailure(.notYetValid, at: index, "it holds from \(validity.notBefore), and it is \(now)")
            }
            guard validity.hasExpired(at: validationTime) else { return nil }
            return TrustFailure(.expired, at: index, "it held until \(validity.notAfter), and it is \(now)")
        }
    }

    private var now: CertificateTime {
        CertificateTime(
            secondsSince1970: Int64(exactly: validationTime.rounded(.down)) ?? (validationTime > 0 ? .max : .min))
    }
}
