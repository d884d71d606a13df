// SPDX-License-Identifier: Apache-2.0

/// What is at hand about revocation.
public struct RevocationInformation: Sendable {
    public var lists: [CertificateRevocationList] = []
    public var responses: [OCSPResponse] = []
    /// Why there is no more of it: whoever was asked in vain.
    var complaints: [String] = []

    public init() {}

    /// How many signatures one statement costs at most: its own, and those of two who may have been named for it.
    static let signatureChecks = 3

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
            if let objection = statement.objection(about: certificate, of: issuer, at: moment) {
                finding.reasons.append(objection)
                continue
            }
            try budget.spend(WorkBudget.signatureCheck, Self.signatureChecks)
            switch statement.signedStatus(of: certificate, issuer: issuer, at: moment) {
            case .good(let end): finding.goodUntil = max(finding.goodUntil ?? end, end)
            case .revoked(let time): finding.revokedAt = min(finding.revokedAt ?? time, time)
            case .unknown(let reason): finding.reasons.append(reason)
            }
        }
        return finding
    }
}
