// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation

/// What an evaluation overlooks, or asks for besides the policies.
public struct SecTrustOptionFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Certificates may have expired. One that is not valid yet is refused.
    public static let allowExpired = SecTrustOptionFlags(rawValue: 0x01)
    /// The certificate of an authority may be a server's.
    public static let leafIsCA = SecTrustOptionFlags(rawValue: 0x02)
    /// Accepted, without effect: issuers are not fetched.
    public static let fetchIssuerFromNet = SecTrustOptionFlags(rawValue: 0x04)
    /// Roots may have expired, and nothing below them.
    public static let allowExpiredRoot = SecTrustOptionFlags(rawValue: 0x08)
    /// Nothing is trusted of which it is not known, for each certificate below the anchor, that it is not revoked.
    public static let requireRevPerCert = SecTrustOptionFlags(rawValue: 0x10)
    /// Accepted, without effect: trust settings always count.
    public static let useTrustSettings = SecTrustOptionFlags(rawValue: 0x20)
    /// Certificates of the trust object that have signed themselves are anchors.
    public static let implicitAnchors = SecTrustOptionFlags(rawValue: 0x40)
}

/// Sets the options of the next evaluations, in place of those that were set before. What is trusted because of one has the result `.proceed`.
///
/// - Returns: errSecParam for flags that are not known.
@discardableResult
public func SecTrustSetOptions(_ trustRef: SecTrust, _ options: SecTrustOptionFlags) -> OSStatus {
    let chosen = TrustOptions(rawValue: options.rawValue)
    guard chosen.isUnderstood else { return errSecParam }
    trustRef.change { $0.options = chosen }
    return errSecSuccess
}

/// Gives the timestamps of certificate transparency that a server sent with its certificates (RFC 6962, section 3.2).
///
/// They are kept, and change no verdict: certificate transparency is not judged, and never required.
///
/// - Parameter sctArray: an array of Data, one for each timestamp; nil for none any more.
/// - Returns: errSecParam where one is something else.
@discardableResult
public func SecTrustSetSignedCertificateTimestamps(_ trust: SecTrust, _ sctArray: CFArray?) -> OSStatus {
    let timestamps = (sctArray ?? []).map { $0 as? Data }
    let given = timestamps.compactMap { $0 }
    guard given.count == timestamps.count else { return errSecParam }
    trust.change { $0.certificateTimestamps = given }
    return errSecSuccess
}
