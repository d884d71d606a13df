// SPDX-License-Identifier: Apache-2.0

/// What is at hand about revocation.
public struct RevocationInformation: Sendable {
    public var lists: [CertificateRevocationList] = []
    public var responses: [OCSPResponse] = []
    /// Why there is no more of it: whoever was asked in vain.
    var errors: [String] = []

    public init() {}

    /// How many signatures one statement costs at most: its own, and those of two who may have been named for it.
    static let signatureChecks = 3

    var isEmpty: Bool { lists.isEmpty && responses.isEmpty }

    /// Both together.
    func adding(_ other: RevocationInformation) -> RevocationInformation {
        var joined = self
        joined.lists += other.lists
        joined.responses += other.responses
        joined.errors += other.errors
        return joined
    }

    /// What is said of a certificate that this issuer has issued, by whatever the options let count.
    ///
    /// - Throws: where the budget is spent.
    func result(
        about certificate: Certificate, of issuer: Certificate, _ options: RevocationOptions?,
        at validationTime: Double,
        _ budget: inout WorkBudget
    ) throws(TrustFailure) -> RevocationResult {
        var result = RevocationResult(reasons: errors)
        var statements: [any RevocationEvidence] = []
        if options?.allows(.ocsp) ?? true { statements += responses as [any RevocationEvidence] }
        if options?.allows(.lists) ?? true { statements += lists as [any RevocationEvidence] }
        for statement in statements where statement.covers(certificate, of: issuer) {
            if let rejectionReason = statement.rejectionReason(about: certificate, of: issuer, at: validationTime) {
                result.reasons.append(rejectionReason)
                continue
            }
            try budget.spend(WorkBudget.signatureCheck, Self.signatureChecks)
            switch statement.signedStatus(of: certificate, issuer: issuer, at: validationTime) {
            case .good(let end): result.validUntil = max(result.validUntil ?? end, end)
            case .revoked(let time): result.revokedAt = min(result.revokedAt ?? time, time)
            case .unknown(let reason): result.reasons.append(reason)
            }
        }
        return result
    }
}
