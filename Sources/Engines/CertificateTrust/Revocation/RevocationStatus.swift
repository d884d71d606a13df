// SPDX-License-Identifier: Apache-2.0

/// The status of a certificate by one CRL or OCSP response.
enum RevocationStatus: Equatable {
    /// Not revoked; valid until this time, in seconds since 1970.
    case good(until: Double)
    case revoked(at: CertificateTime)
    /// Not known, and why.
    case unknown(String)
}
