// SPDX-License-Identifier: Apache-2.0

/// The signatures of certificates that a chain search has verified, so that each is verified once.
struct VerifiedSignatures: Sendable {
    private var known: [Pair: TrustFailure?] = [:]

    private struct Pair: Hashable {
        let certificate: Certificate
        /// The issuer's key, not its certificate, because several certificates can have the same
        /// key.
        let key: SubjectPublicKeyInfo

        func hash(into hasher: inout Hasher) {
            // The key is left out, because its bytes are slow to hash: the budget bounds the number of
            // keys that are tried for a certificate.
            hasher.combine(certificate)
        }
    }

    /// Returns why the issuer's key did not sign the certificate; nil if it did.
    ///
    /// - Parameter index: the index of the certificate in its chain.
    /// - Throws: if the budget is exhausted.
    mutating func failure(
        of certificate: Certificate, at index: Int, by issuer: Certificate, _ budget: inout WorkBudget
    ) throws(TrustFailure) -> TrustFailure? {
        let pair = Pair(certificate: certificate, key: issuer.publicKey)
        if let known = known[pair] {
            return known.map { $0.moved(to: index + ($0.rule == .key ? 1 : 0)) }
        }
        try budget.spend(.signatureCheck)
        let failure = Self.failure(of: certificate, at: index, by: issuer)
        known[pair] = .some(failure)
        return failure
    }

    private static func failure(of certificate: Certificate, at index: Int, by issuer: Certificate) -> TrustFailure? {
        let key: VerificationKey
        do throws(CertificateError) {
            key = try issuer.verificationKey()
        } catch {
            return TrustFailure(.key, at: index + 1, error.description)
        }
        do throws(CertificateError) {
            let holds = try key.isSignature(
                certificate.signature, of: certificate.signedBytes, certificate.signatureAlgorithm)
            return holds ? nil : TrustFailure(.signature, at: index, "not signed by the key of \(issuer.subject)")
        } catch {
            return TrustFailure(.algorithm, at: index, error.description)
        }
    }
}
