// SPDX-License-Identifier: Apache-2.0

/// A CRL or an OCSP response.
protocol RevocationEvidence: AnyObject, Sendable {
    /// Whether the evidence is about the certificate. Verifies no signature.
    func covers(_ certificate: Certificate, of issuer: Certificate) -> Bool

    /// Why the evidence is not used for the certificate; nil if it is. Verifies no signature.
    func rejectionReason(about certificate: Certificate, of issuer: Certificate, at validationTime: Double) -> String?

    /// The status of a covered certificate, if the signature is valid.
    /// ``rejectionReason(about:of:at:)`` must have returned nil. Verifies at most
    /// ``RevocationInformation/signatureChecks`` signatures.
    func signedStatus(of certificate: Certificate, issuer: Certificate, at validationTime: Double) -> RevocationStatus
}

extension RevocationEvidence {
    /// The status of a covered certificate.
    func status(of certificate: Certificate, issuer: Certificate, at validationTime: Double) -> RevocationStatus {
        rejectionReason(about: certificate, of: issuer, at: validationTime).map { .unknown($0) }
            ?? signedStatus(of: certificate, issuer: issuer, at: validationTime)
    }
}

extension CertificateTime {
    /// Whether the time is not in the future, with a tolerance of 5 minutes for clocks that differ
    /// and for responses made after the validation time.
    func isNotInFuture(at validationTime: Double) -> Bool { validationTime + 300 >= Double(secondsSince1970) }
}
