// SPDX-License-Identifier: Apache-2.0

// The identifiers of policies, and the keys of their properties.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an immutable string that is never replaced, and
// Foundation on Linux declares NSString non-Sendable only on account of NSMutableString.

public import Foundation

// MARK: Identifiers

/// RFC 5280 alone: a chain to an anchor.
nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"
/// A server or a client of TLS.
nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"
/// Signed and encrypted mail.
nonisolated(unsafe) public let kSecPolicyAppleSMIME: CFString = "1.2.840.113635.100.1.8"
/// Signed code.
nonisolated(unsafe) public let kSecPolicyAppleCodeSigning: CFString = "1.2.840.113635.100.1.16"
/// Signed times.
nonisolated(unsafe) public let kSecPolicyAppleTimeStamping: CFString = "1.2.840.113635.100.1.20"
/// Whether certificates were revoked.
nonisolated(unsafe) public let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"
/// Known by name only, like the others down to PassbookSigning: `SecPolicyCreateWithProperties` gives nil for them.
nonisolated(unsafe) public let kSecPolicyAppleEAP: CFString = "1.2.840.113635.100.1.9"
nonisolated(unsafe) public let kSecPolicyAppleIPsec: CFString = "1.2.840.113635.100.1.11"
nonisolated(unsafe) public let kSecPolicyAppleIDValidation: CFString = "1.2.840.113635.100.1.18"
nonisolated(unsafe) public let kSecPolicyMacAppStoreReceipt: CFString = "1.2.840.113635.100.1.19"
nonisolated(unsafe) public let kSecPolicyApplePassbookSigning: CFString = "1.2.840.113635.100.1.22"

// MARK: Properties

/// Which policy it is: one of the identifiers.
nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"
/// Whom the certificate has to be for: a host of TLS, an address of mail.
nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"
/// Whether the certificate is a client's.
nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"
/// The flags of ``SecPolicyCreateRevocation(_:)``.
nonisolated(unsafe) public let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"
/// Known by name only.
nonisolated(unsafe) public let kSecPolicyTeamIdentifier: CFString = "SecPolicyTeamIdentifier"
