// SPDX-License-Identifier: Apache-2.0

/// A rule about a certificate and its issuer. It is cheap, and checked before the signature.
protocol IssuerRule: Sendable {
    /// Checks a candidate issuer.
    ///
    /// - Parameter index: the issuer's index in the chain; the certificate that it issued is at
    ///   `index - 1`.
    func check(_ issuer: Certificate, of certificate: Certificate, at index: Int, isAnchor: Bool) throws(TrustFailure)
}
