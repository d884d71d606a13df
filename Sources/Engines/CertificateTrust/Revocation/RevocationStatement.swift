// SPDX-License-Identifier: Apache-2.0

/// A list or an answer that may tell whether a certificate is revoked.
protocol RevocationStatement: Sendable {
    /// Whether it is about the certificate at all. Costs no signature.
    func isAbout(_ certificate: Certificate, of issuer: Certificate) -> Bool

    /// Why it counts for nothing whatever its signature is; nil where nothing speaks against it. Costs no signature either.
    func objection(about certificate: Certificate, of issuer: Certificate, at moment: Double) -> String?

    /// What it says of a certificate that it is about, if its signature holds; where nothing else speaks against it. Costs at most
    /// ``RevocationInformation/signatureChecks``.
    func signedStatus(of certificate: Certificate, issuer: Certificate, at moment: Double) -> RevocationStatus
}

extension RevocationStatement {
    /// What it says of a certificate that it is about.
    func status(of certificate: Certificate, issuer: Certificate, at moment: Double) -> RevocationStatus {
        objection(about: certificate, of: issuer, at: moment).map { .unknown($0) }
            ?? signedStatus(of: certificate, issuer: issuer, at: moment)
    }
}

extension CertificateTime {
    /// Whether the time at which something was said has come, for clocks that differ by five minutes at most: what is said at the moment of
    /// asking is said a little later than that.
    func hasCome(at moment: Double) -> Bool { moment + 300 >= Double(secondsSince1970) }
}
