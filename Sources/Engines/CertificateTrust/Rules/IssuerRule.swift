// SPDX-License-Identifier: Apache-2.0

/// A rule about one certificate and the next above it. It costs nothing, and is asked before the signature is checked.
protocol IssuerRule: Sendable {
    /// - Parameter index: the issuer's place in the chain; the certificate that it has issued stands one below.
    func check(_ issuer: Certificate, of certificate: Certificate, at index: Int, isAnchor: Bool) throws(TrustFailure)
}
