// SPDX-License-Identifier: Apache-2.0

/// Checks that the available evidence does not show any certificate below the anchor as revoked
/// (RFC 5280, section 6.3; RFC 6960).
struct RevocationRule: ChainRule {
    let information: RevocationInformation
    /// Nil if no policy checks revocation: then given evidence is used, but none is required.
    let options: RevocationOptions?
    let verifier: RevocationVerifier

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.dropLast().enumerated() {
            let result = try information.result(
                about: certificate, of: chain.certificates[index + 1], options, verifier, &budget)
            if let time = result.revokedAt { throw TrustFailure(.revoked, at: index, "revoked at \(time)") }
            guard result.isUnknown, options?.contains(.requiresPositiveResponse) == true else { continue }
            let reason = result.reasons.isEmpty ? "" : ": \(result.reasons.joined(separator: "; "))"
            throw TrustFailure(.revocationUnknown, at: index, "not confirmed as not revoked\(reason)")
        }
    }
}
