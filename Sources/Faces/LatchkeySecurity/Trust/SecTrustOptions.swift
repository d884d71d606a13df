// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation

/// Options of an evaluation, in addition to the policies: failures to ignore and extra
/// requirements.
public struct SecTrustOptionFlags: OptionSet, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: UInt32
    /// A set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Certificates may be expired. A certificate that is not valid yet is refused.
    public static let allowExpired = SecTrustOptionFlags(rawValue: 0x01)
    /// The leaf may be the certificate of a CA.
    public static let leafIsCA = SecTrustOptionFlags(rawValue: 0x02)
    /// Accepted and ignored: issuers are not fetched.
    public static let fetchIssuerFromNet = SecTrustOptionFlags(rawValue: 0x04)
    /// Roots may be expired, but no certificate below them.
    public static let allowExpiredRoot = SecTrustOptionFlags(rawValue: 0x08)
    /// Fail unless each certificate below the anchor is confirmed not revoked.
    public static let requireRevPerCert = SecTrustOptionFlags(rawValue: 0x10)
    /// Accepted and ignored: trust settings always apply.
    public static let useTrustSettings = SecTrustOptionFlags(rawValue: 0x20)
    /// Self-signed certificates in the trust object are anchors.
    public static let implicitAnchors = SecTrustOptionFlags(rawValue: 0x40)
}

/// Sets the options of the following evaluations, in place of earlier ones. If the chain is trusted
/// because of an option, the result is `.proceed`.
///
/// - Returns: errSecParam for unknown flags.
@discardableResult
public func SecTrustSetOptions(_ trustRef: SecTrust, _ options: SecTrustOptionFlags) -> OSStatus {
    let chosen = TrustOptions(rawValue: options.rawValue)
    guard chosen.isUnderstood else { return errSecParam }
    trustRef.change { $0.options = chosen }
    return errSecSuccess
}

/// Sets the signed certificate timestamps that a server sent with its certificates (RFC 6962,
/// section 3.2).
///
/// They are stored and do not change a verdict: certificate transparency is neither evaluated nor
/// required.
///
/// - Parameters:
///   - trust: the trust object.
///   - sctArray: an array of Data, one for each timestamp; nil removes all timestamps.
/// - Returns: errSecParam if an element is not Data.
@discardableResult
public func SecTrustSetSignedCertificateTimestamps(_ trust: SecTrust, _ sctArray: CFArray?) -> OSStatus {
    let timestamps = (sctArray ?? []).map { $0 as? Data }
    let given = timestamps.compactMap { $0 }
    guard given.count == timestamps.count else { return errSecParam }
    trust.change { $0.certificateTimestamps = given }
    return errSecSuccess
}
