// SPDX-License-Identifier: Apache-2.0

/// No certificate below the anchor is revoked (RFC 5280, section 6.3; RFC 6960), as far as what is at hand says so.
struct RevocationRule: ChainRule {
    let information: RevocationInformation
    /// Nil where nobody asked: then what was given counts, and nothing is required.
    let options: RevocationOptions?
    let validationTime: Double

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.dropLast().enumerated() {
            let result = try information.result(
                about: certificate, of: chain.certificates[index + 1], options, at: validationTime, &budget)
            if let time = result.revokedAt { throw TrustFailure(.revoked, at: index, "it was revoked at \(time)") }
            guard result.isUnknown, options?.contains(.requiresPositiveResponse) == true else { continue }
            let reason = result.reasons.isEmpty ? "" : ": \(result.reasons.joined(separator: "; "))"
            throw TrustFailure(.revocationUnknown, at: index, "nothing says that it is not revoked\(reason)")
        }
    }
}
