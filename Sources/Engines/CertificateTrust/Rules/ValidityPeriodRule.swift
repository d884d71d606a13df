// SPDX-License-Identifier: Apache-2.0

/// Checks that a server's certificate is not valid for longer than Apple's systems accept: 825 days
/// if issued since July 2019.
struct ValidityPeriodRule: ChainRule {
    private static let start = CertificateTime(2019, 7, 1)
    private static let days: Int64 = 825

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let validity = chain.leaf.validity
        guard validity.notBefore >= Self.start else { return }
        let seconds = validity.notAfter.secondsSince1970 - validity.notBefore.secondsSince1970
        guard seconds <= Self.days * 86_400 else {
            throw TrustFailure(
                .validityPeriod, at: 0, "valid for \(seconds / 86_400) days; at most \(Self.days) are allowed")
        }
    }
}
