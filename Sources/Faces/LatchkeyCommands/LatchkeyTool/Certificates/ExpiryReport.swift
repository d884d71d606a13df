// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LinuxSystem

/// A certificate in the output of `latchkey certificate expiring`, in the shape of its JSON.
struct ExpiryReport: Encodable {
    var subject: String
    var issuer: String
    /// RFC 3339.
    var notAfter: String
    /// Whole days until the end of the validity; negative if it has expired.
    var daysLeft: Int
    /// Hexadecimal.
    var sha256: String
    /// Until the end of the validity; not in the JSON.
    let secondsLeft: Double

    static let secondsOfDay = 86_400.0

    private enum CodingKeys: String, CodingKey { case subject, issuer, notAfter, daysLeft, sha256 }

    /// - Parameter time: seconds since 1970.
    init(_ certificate: Certificate, at time: Double) {
        subject = certificate.subject.description
        issuer = certificate.issuer.description
        notAfter = certificate.validity.notAfter.description
        secondsLeft = Double(certificate.validity.notAfter.secondsSince1970) - time
        daysLeft = Int((secondsLeft / Self.secondsOfDay).rounded(.down))
        sha256 = Hexadecimal.text(certificate.sha256)
    }

    /// One line: the end of validity, the time left, and the certificate.
    var text: TerminalText {
        let state = secondsLeft < 0 ? "expired" : daysLeft == 1 ? "1 day left" : "\(daysLeft) days left"
        return "\(notAfter)  \(state)  \(subject.isEmpty ? "no subject" : subject)  \(sha256)\n"
    }
}
