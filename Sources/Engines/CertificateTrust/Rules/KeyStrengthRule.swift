// SPDX-License-Identifier: Apache-2.0

/// Checks that every key is strong enough and of a supported algorithm, including keys that signed
/// nothing in the chain (Baseline Requirements, section 6.1.5).
struct KeyStrengthRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.enumerated() {
            do throws(CertificateError) {
                _ = try certificate.verificationKey()
            } catch {
                throw TrustFailure(.key, at: index, error.description)
            }
        }
    }
}
