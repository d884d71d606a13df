// SPDX-License-Identifier: Apache-2.0

/// The revocation evidence for an evaluation.
public struct RevocationInformation: Sendable {
    public var lists: [CertificateRevocationList] = []
    public var responses: [OCSPResponse] = []
    /// The errors of evidence that could not be read or fetched.
    var errors: [String] = []

    public init() {}

    /// The most signatures that are verified for one piece of evidence: its own, and those of two
    /// authorized responders.
    static let signatureChecks = 3

    var isEmpty: Bool { lists.isEmpty && responses.isEmpty }

    /// The evidence and the errors of both.
    func adding(_ other: RevocationInformation) -> RevocationInformation {
        var joined = self
        joined.lists += other.lists
        joined.responses += other.responses
        joined.errors += other.errors
        return joined
    }

    /// Combines all evidence about a certificate, of the kinds that the options allow.
    ///
    /// - Throws: if the budget is exhausted.
    func result(
        about certificate: Certificate, of issuer: Certificate, _ options: RevocationOptions?,
        _ verifier: RevocationVerifier, _ budget: inout WorkBudget
    ) throws(TrustFailure) -> RevocationResult {
        var result = RevocationResult(reasons: errors)
        var statements: [any RevocationEvidence] = []
        if options?.allows(.ocsp) ?? true { statements += responses as [any RevocationEvidence] }
        if options?.allows(.lists) ?? true { statements += lists as [any RevocationEvidence] }
        for statement in statements where statement.covers(certificate, of: issuer) {
            let rejectionReason = statement.rejectionReason(
                about: certificate, of: issuer, at: verifier.validationTime)
            if let rejectionReason {
                result.reasons.append(rejectionReason)
                continue
            }
            switch try verifier.status(of: certificate, issuer: issuer, by: statement, &budget) {
            case .good(let end): result.validUntil = max(result.validUntil ?? end, end)
            case .revoked(let time): result.revokedAt = min(result.revokedAt ?? time, time)
            case .unknown(let reason): result.reasons.append(reason)
            }
        }
        return result
    }
}
