// SPDX-License-Identifier: Apache-2.0

/// The combined result of all evidence about one certificate.
struct RevocationResult {
    /// When the certificate was revoked; nil if no evidence shows that.
    var revokedAt: CertificateTime?
    /// The time until which it is known not to be revoked, in seconds since 1970; nil if it is not
    /// known.
    var validUntil: Double?
    /// Why evidence is missing or not used, one sentence each.
    var reasons: [String] = []

    /// Whether no evidence shows the certificate as revoked or not revoked.
    var isUnknown: Bool { revokedAt == nil && validUntil == nil }
}
