// SPDX-License-Identifier: Apache-2.0

// The keys of the results of SecTrust.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString.

public import Foundation

// MARK: SecTrustCopyResult

/// The validation time, or the time of the evaluation if no date was set: a Date.
nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// The result: a number of `SecTrustResultType`.
nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"
/// Whether every certificate was confirmed not revoked: true, or absent.
nonisolated(unsafe) public let kSecTrustRevocationChecked: CFString = "TrustRevocationChecked"
/// The end of the validity of the revocation result: a Date.
nonisolated(unsafe) public let kSecTrustRevocationValidUntilDate: CFString = "TrustExpirationDate"
/// Unsupported, like the two that follow.
nonisolated(unsafe) public let kSecTrustExtendedValidation: CFString = "TrustExtendedValidation"
/// Unsupported.
nonisolated(unsafe) public let kSecTrustOrganizationName: CFString = "Organization"
/// Unsupported.
nonisolated(unsafe) public let kSecTrustCertificateTransparency: CFString = "TrustCertificateTransparency"
