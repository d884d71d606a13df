// SPDX-License-Identifier: Apache-2.0

/// RFC 5280, section 4.1.2.5: every certificate of the chain holds at the moment, the anchor included.
struct ValidityRule: ChainRule {
    /// Seconds since 1970, with fractions: a certificate that ends at a second does not hold in the middle of it.
    let moment: Double

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            let validity = certificate.validity
            guard moment >= Double(validity.notBefore.secondsSince1970) else {
                throw TrustFailure(.notYetValid, at: index, "it holds from \(validity.notBefore), and it is \(now)")
            }
            guard moment <= Double(validity.notAfter.secondsSince1970) else {
                throw TrustFailure(.expired, at: index, "it held until \(validity.notAfter), and it is \(now)")
            }
        }
    }

    private var now: CertificateTime { CertificateTime(secondsSince1970: Int64(exactly: moment.rounded(.down)) ?? 0) }
}
