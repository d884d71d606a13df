// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The keys of ``SecCertificateCopyValues(_:_:_:)``, and the object identifiers that its values use,
// as on macOS.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString.

// MARK: Parts of a certificate

/// The version as text: 1, 2 or 3.
nonisolated(unsafe) public let kSecOIDX509V1Version: CFString = "2.16.840.1.113741.2.1.1.1.2"
/// The serial number as text: hexadecimal bytes, separated by spaces.
nonisolated(unsafe) public let kSecOIDX509V1SerialNumber: CFString = "2.16.840.1.113741.2.1.1.1.3"
/// A section with one text property for each attribute of the name; the label is the attribute
/// type.
nonisolated(unsafe) public let kSecOIDX509V1IssuerName: CFString = "2.16.840.1.113741.2.1.1.1.5"
/// A number: seconds since the beginning of 2001.
nonisolated(unsafe) public let kSecOIDX509V1ValidityNotBefore: CFString = "2.16.840.1.113741.2.1.1.1.6"
/// A number: seconds since the beginning of 2001.
nonisolated(unsafe) public let kSecOIDX509V1ValidityNotAfter: CFString = "2.16.840.1.113741.2.1.1.1.7"
/// A section with one text property for each attribute of the name; the label is the attribute
/// type.
nonisolated(unsafe) public let kSecOIDX509V1SubjectName: CFString = "2.16.840.1.113741.2.1.1.1.8"
/// A section with the algorithm and its parameters.
nonisolated(unsafe) public let kSecOIDX509V1SubjectPublicKeyAlgorithm: CFString = "2.16.840.1.113741.2.1.1.1.9"
/// Data: the key bits without the algorithm.
nonisolated(unsafe) public let kSecOIDX509V1SubjectPublicKey: CFString = "2.16.840.1.113741.2.1.1.1.10"
/// A section with the algorithm and its parameters.
nonisolated(unsafe) public let kSecOIDX509V1SignatureAlgorithm: CFString = "2.16.840.1.113741.2.1.3.2.1"
/// Data.
nonisolated(unsafe) public let kSecOIDX509V1Signature: CFString = "2.16.840.1.113741.2.1.3.2.2"

// MARK: Extensions

nonisolated(unsafe) public let kSecOIDSubjectKeyIdentifier: CFString = "2.5.29.14"
/// A number with one bit for each key usage, from 1 for digitalSignature to 256 for decipherOnly,
/// in the order of RFC 5280; 0 if no usage is named.
nonisolated(unsafe) public let kSecOIDKeyUsage: CFString = "2.5.29.15"
nonisolated(unsafe) public let kSecOIDSubjectAltName: CFString = "2.5.29.17"
nonisolated(unsafe) public let kSecOIDIssuerAltName: CFString = "2.5.29.18"
nonisolated(unsafe) public let kSecOIDBasicConstraints: CFString = "2.5.29.19"
nonisolated(unsafe) public let kSecOIDNameConstraints: CFString = "2.5.29.30"
nonisolated(unsafe) public let kSecOIDCrlDistributionPoints: CFString = "2.5.29.31"
nonisolated(unsafe) public let kSecOIDCertificatePolicies: CFString = "2.5.29.32"
nonisolated(unsafe) public let kSecOIDPolicyMappings: CFString = "2.5.29.33"
nonisolated(unsafe) public let kSecOIDAuthorityKeyIdentifier: CFString = "2.5.29.35"
nonisolated(unsafe) public let kSecOIDPolicyConstraints: CFString = "2.5.29.36"
/// An array of Data: the content of each object identifier.
nonisolated(unsafe) public let kSecOIDExtendedKeyUsage: CFString = "2.5.29.37"
nonisolated(unsafe) public let kSecOIDAuthorityInfoAccess: CFString = "1.3.6.1.5.5.7.1.1"

// MARK: Uses of a key

nonisolated(unsafe) public let kSecOIDExtendedKeyUsageAny: CFString = "2.5.29.37.0"
nonisolated(unsafe) public let kSecOIDServerAuth: CFString = "1.3.6.1.5.5.7.3.1"
nonisolated(unsafe) public let kSecOIDClientAuth: CFString = "1.3.6.1.5.5.7.3.2"
nonisolated(unsafe) public let kSecOIDExtendedUseCodeSigning: CFString = "1.3.6.1.5.5.7.3.3"
nonisolated(unsafe) public let kSecOIDEmailProtection: CFString = "1.3.6.1.5.5.7.3.4"
nonisolated(unsafe) public let kSecOIDTimeStamping: CFString = "1.3.6.1.5.5.7.3.8"
nonisolated(unsafe) public let kSecOIDOCSPSigning: CFString = "1.3.6.1.5.5.7.3.9"

// MARK: Attributes of names

/// When used as a key: an array of strings.
nonisolated(unsafe) public let kSecOIDCommonName: CFString = "2.5.4.3"
nonisolated(unsafe) public let kSecOIDSurname: CFString = "2.5.4.4"
nonisolated(unsafe) public let kSecOIDSerialNumber: CFString = "2.5.4.5"
nonisolated(unsafe) public let kSecOIDCountryName: CFString = "2.5.4.6"
nonisolated(unsafe) public let kSecOIDLocalityName: CFString = "2.5.4.7"
nonisolated(unsafe) public let kSecOIDStateProvinceName: CFString = "2.5.4.8"
nonisolated(unsafe) public let kSecOIDStreetAddress: CFString = "2.5.4.9"
nonisolated(unsafe) public let kSecOIDOrganizationName: CFString = "2.5.4.10"
nonisolated(unsafe) public let kSecOIDOrganizationalUnitName: CFString = "2.5.4.11"
nonisolated(unsafe) public let kSecOIDTitle: CFString = "2.5.4.12"
nonisolated(unsafe) public let kSecOIDDescription: CFString = "2.5.4.13"
nonisolated(unsafe) public let kSecOIDGivenName: CFString = "2.5.4.42"
/// When used as a key: an array of strings.
nonisolated(unsafe) public let kSecOIDEmailAddress: CFString = "1.2.840.113549.1.9.1"
