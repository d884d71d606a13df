// SPDX-License-Identifier: Apache-2.0

// The keys of what SecTrust tells.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an immutable string that is never replaced, and
// Foundation on Linux declares NSString non-Sendable only on account of NSMutableString.

public import Foundation

// MARK: SecTrustCopyResult

/// When the certificates were judged, or for when: a Date.
nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// The result: a number of `SecTrustResultType`.
nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"
/// Whether it was found that nothing is revoked: true, or absent.
nonisolated(unsafe) public let kSecTrustRevocationChecked: CFString = "TrustRevocationChecked"
/// Until when that holds: a Date.
nonisolated(unsafe) public let kSecTrustRevocationValidUntilDate: CFString = "TrustExpirationDate"
/// Known by name only, like the two that follow.
nonisolated(unsafe) public let kSecTrustExtendedValidation: CFString = "TrustExtendedValidation"
nonisolated(unsafe) public let kSecTrustOrganizationName: CFString = "Organization"
nonisolated(unsafe) public let kSecTrustCertificateTransparency: CFString = "TrustCertificateTransparency"
