// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Verifies the revocation evidence of one evaluation: each piece once for each certificate,
/// although an evaluation needs the result several times.
final class RevocationVerifier: Sendable {
    /// Seconds since 1970.
    let validationTime: Double
    private let known = SystemMutex<[Key: Entry]>([:])

    private struct Key: Hashable {
        let evidence: Swift.ObjectIdentifier
        let certificate: Certificate
        let issuer: Certificate
    }

    private struct Entry {
        let status: RevocationStatus
        /// Kept, so that no other object gets its identifier.
        let evidence: any RevocationEvidence
    }

    init(at validationTime: Double) { self.validationTime = validationTime }

    /// Returns the status of a certificate that the evidence covers and does not reject.
    ///
    /// - Throws: if the budget is exhausted. Only the first call for this evidence and this
    ///   certificate is charged.
    func status(
        of certificate: Certificate, issuer: Certificate, by evidence: any RevocationEvidence,
        _ budget: inout WorkBudget
    ) throws(TrustFailure) -> RevocationStatus {
        let key = Key(
            evidence: Swift.ObjectIdentifier(evidence), certificate: certificate, issuer: issuer)
        if let entry = known.withLock({ $0[key] }) { return entry.status }
        try budget.spend(.signatureCheck, RevocationInformation.signatureChecks)
        let status = evidence.signedStatus(of: certificate, issuer: issuer, at: validationTime)
        known.withLock { $0[key] = Entry(status: status, evidence: evidence) }
        return status
    }
}
