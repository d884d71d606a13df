// SPDX-License-Identifier: Apache-2.0

/// What is known of a certificate's revocation.
enum RevocationStatus: Equatable {
    case good
    case revoked(at: CertificateTime)
    /// Nothing that counts, and why.
    case unknown(String)
}
