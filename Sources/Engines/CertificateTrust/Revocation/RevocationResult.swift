// SPDX-License-Identifier: Apache-2.0

/// What all lists and answers together say of one certificate.
struct RevocationResult {
    /// When it was revoked; nil where nobody says that it was.
    var revokedAt: CertificateTime?
    /// Until when it is known that it is not revoked, in seconds since 1970; nil where nobody says so.
    var validUntil: Double?
    /// Why statements about it count for nothing, a sentence each.
    var reasons: [String] = []

    /// Whether nobody has said anything that counts.
    var isUnknown: Bool { revokedAt == nil && validUntil == nil }
}
