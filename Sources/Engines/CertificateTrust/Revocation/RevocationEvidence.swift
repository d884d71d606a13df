// SPDX-License-Identifier: Apache-2.0

/// A list or an answer that may tell whether a certificate is revoked.
protocol RevocationEvidence: Sendable {
    /// Whether it is about the certificate at all. Costs no signature.
    func covers(_ certificate: Certificate, of issuer: Certificate) -> Bool

    /// Why it counts for nothing whatever its signature is; nil where nothing speaks against it. Costs no signature either.
    func rejectionReason(about certificate: Certificate, of issuer: Certificate, at validationTime: Double) -> String?

    /// What it says of a certificate that it is about, if its signature holds; where nothing else speaks against it. Costs at most
    /// ``RevocationInformation/signatureChecks``.
    func signedStatus(of certificate: Certificate, issuer: Certificate, at validationTime: Double) -> RevocationStatus
}

extension RevocationEvidence {
    /// What it says of a certificate that it is about.
    func status(of certificate: Certificate, issuer: Certificate, at validationTime: Double) -> RevocationStatus {
        rejectionReason(about: certificate, of: issuer, at: validationTime).map { .unknown($0) }
            ?? signedStatus(of: certificate, issuer: issuer, at: validationTime)
    }
}

extension CertificateTime {
    /// Whether the time at which something was said has come, for clocks that differ by five minutes at most: what is said at the moment of
    /// asking is said a little later than that.
    func isNotInFuture(at validationTime: Double) -> Bool { validationTime + 300 >= Double(secondsSince1970) }
}
