// SPDX-License-Identifier: Apache-2.0

/// What one list or one answer says of a certificate.
enum RevocationStatus: Equatable {
    /// That it is not revoked; holds until this moment, in seconds since 1970.
    case good(until: Double)
    case revoked(at: CertificateTime)
    /// Nothing that counts, and why.
    case unknown(String)
}
