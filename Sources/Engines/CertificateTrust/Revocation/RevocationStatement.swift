// SPDX-License-Identifier: Apache-2.0

/// A list or an answer that may tell whether a certificate is revoked.
protocol RevocationStatement: Sendable {
    /// Whether it is about the certificate at all. Costs no signature.
    func isAbout(_ certificate: Certificate, of issuer: Certificate) -> Bool

    /// What it says of a certificate that it is about. Costs two signature checks at most: the statement's and its signer's.
    func status(of certificate: Certificate, issuer: Certificate, at moment: Double) -> RevocationStatus
}
