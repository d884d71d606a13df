// SPDX-License-Identifier: Apache-2.0

/// Checks that every certificate of the chain, including the anchor, is valid at the validation
/// time (RFC 5280, section 4.1.2.5).
struct ValidityRule: ChainRule {
    /// Seconds since 1970.
    let validationTime: Double

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        if let first = failures(of: chain).first { throw first }
    }

    // One failure per certificate: a user who accepts an expired leaf has not accepted an expired
    // intermediate.
    func failures(of chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) -> [TrustFailure] {
        failures(of: chain)
    }

    private func failures(of chain: Chain) -> [TrustFailure] {
        let now = now
        return chain.certificates.enumerated().compactMap { index, certificate in
            let validity = certificate.validity
            guard validity.hasStarted(at: validationTime) else {
                return TrustFailure(
                    .notYetValid, at: index, "not valid before \(validity.notBefore); the validation time is \(now)")
            }
            guard validity.hasExpired(at: validationTime) else { return nil }
            return TrustFailure(.expired, at: index, "expired at \(validity.notAfter); the validation time is \(now)")
        }
    }

    private var now: CertificateTime {
        CertificateTime(
            secondsSince1970: Int64(exactly: validationTime.rounded(.down)) ?? (validationTime > 0 ? .max : .min))
    }
}
