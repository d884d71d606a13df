// SPDX-License-Identifier: Apache-2.0

// The identifiers of policies, and the keys of their properties.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString.

public import Foundation

// MARK: Identifiers

/// RFC 5280 only: a chain to an anchor.
nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"
/// A TLS server or a TLS client.
nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"
/// Signed and encrypted email.
nonisolated(unsafe) public let kSecPolicyAppleSMIME: CFString = "1.2.840.113635.100.1.8"
/// Signed code.
nonisolated(unsafe) public let kSecPolicyAppleCodeSigning: CFString = "1.2.840.113635.100.1.16"
/// Timestamps.
nonisolated(unsafe) public let kSecPolicyAppleTimeStamping: CFString = "1.2.840.113635.100.1.20"
/// The revocation of certificates.
nonisolated(unsafe) public let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"
/// An EAP server or an EAP client (802.1X).
nonisolated(unsafe) public let kSecPolicyAppleEAP: CFString = "1.2.840.113635.100.1.9"
/// An IPsec server or an IPsec client.
nonisolated(unsafe) public let kSecPolicyAppleIPsec: CFString = "1.2.840.113635.100.1.11"
/// An Apple ID's certificate, below one of Apple's roots.
nonisolated(unsafe) public let kSecPolicyAppleIDValidation: CFString = "1.2.840.113635.100.1.18"
/// The signer of a receipt of the Mac App Store, below one of Apple's roots.
nonisolated(unsafe) public let kSecPolicyMacAppStoreReceipt: CFString = "1.2.840.113635.100.1.19"
/// The signer of a pass, below one of Apple's roots; needs `kSecPolicyTeamIdentifier`.
nonisolated(unsafe) public let kSecPolicyApplePassbookSigning: CFString = "1.2.840.113635.100.1.22"

// MARK: Properties

/// The policy: one of the identifiers.
nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"
/// The name that the certificate must contain: a host for TLS or IPsec, hosts for EAP, an email
/// address, a pass type.
nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"
/// Whether the certificate belongs to a client.
nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"
/// The flags of ``SecPolicyCreateRevocation(_:)``.
nonisolated(unsafe) public let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"
/// The developer team of ``kSecPolicyApplePassbookSigning``: a string.
nonisolated(unsafe) public let kSecPolicyTeamIdentifier: CFString = "SecPolicyTeamIdentifier"

// MARK: Key usages

// Properties of every policy: if any is true, the leaf's key usage must name one of those that are
// true.

/// Signatures, except on certificates and CRLs (RFC 5280, 4.2.1.3).
nonisolated(unsafe) public let kSecPolicyKU_DigitalSignature: CFString = "CE_KU_DigitalSignature"
/// Signatures that cannot be denied later.
nonisolated(unsafe) public let kSecPolicyKU_NonRepudiation: CFString = "CE_KU_NonRepudiation"
/// Encryption of keys.
nonisolated(unsafe) public let kSecPolicyKU_KeyEncipherment: CFString = "CE_KU_KeyEncipherment"
/// Encryption of data.
nonisolated(unsafe) public let kSecPolicyKU_DataEncipherment: CFString = "CE_KU_DataEncipherment"
/// Key agreement.
nonisolated(unsafe) public let kSecPolicyKU_KeyAgreement: CFString = "CE_KU_KeyAgreement"
/// Signatures on certificates.
nonisolated(unsafe) public let kSecPolicyKU_KeyCertSign: CFString = "CE_KU_KeyCertSign"
/// Signatures on CRLs.
nonisolated(unsafe) public let kSecPolicyKU_CRLSign: CFString = "CE_KU_CRLSign"
/// Key agreement only to encrypt.
nonisolated(unsafe) public let kSecPolicyKU_EncipherOnly: CFString = "CE_KU_EncipherOnly"
/// Key agreement only to decrypt.
nonisolated(unsafe) public let kSecPolicyKU_DecipherOnly: CFString = "CE_KU_DecipherOnly"
