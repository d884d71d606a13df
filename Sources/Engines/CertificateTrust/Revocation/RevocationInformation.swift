// SPDX-License-Identifier: Apache-2.0

/// What is at hand about revocation.
public struct RevocationInformation: Sendable {
    public var lists: [CertificateRevocationList] = []
    public var responses: [OCSPResponse] = []
    /// Why there is no more of it: whoever was asked in vain.
    var complaints: [String] = []

    public init() {}

    var isEmpty: Bool { lists.isEmpty && responses.isEmpty }

    /// Both together.
    func adding(_ other: RevocationInformation) -> RevocationInformation {
        var joined = self
        joined.lists += other.lists
        joined.responses += other.responses
        joined.complaints += other.complaints
        return joined
    }

    /// What is said of a certificate that this issuer has issued, by whatever the options let count.
    ///
    /// - Throws: where the budget is spent.
    func finding(
        about certificate: Certificate, of issuer: Certificate, _ options: RevocationOptions?, at moment: Double,
        _ budget: inout WorkBudget
    ) throws(TrustFailure) -> RevocationFinding {
        var finding = RevocationFinding(reasons: complaints)
        var statements: [any RevocationStatement] = []
        if options?.allows(.ocsp) ?? true { statements += responses as [any RevocationStatement] }
        if options?.allows(.lists) ?? true { statements += lists as [any RevocationStatement] }
        for statement in statements where statement.isAbout(certificate, of: issuer) {
            try budget.spend(WorkBudget.signatureCheck, 2)
            switch statement.status(of: certificate, issuer: issuer, at: moment) {
            case .good(let end): finding.goodUntil = max(finding.goodUntil ?? end, end)
            case .revoked(let time): finding.revokedAt = min(finding.revokedAt ?? time, time)
            case .unknown(let reason): finding.reasons.append(reason)
            }
        }
        return finding
    }
}
