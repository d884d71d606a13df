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

/// The subject key identifier (RFC 5280, 4.2.1.2).
nonisolated(unsafe) public let kSecOIDSubjectKeyIdentifier: CFString = "2.5.29.14"
/// A number with one bit for each key usage, from 1 for digitalSignature to 256 for decipherOnly,
/// in the order of RFC 5280; 0 if no usage is named.
nonisolated(unsafe) public let kSecOIDKeyUsage: CFString = "2.5.29.15"
/// The subject alternative names (RFC 5280, 4.2.1.6).
nonisolated(unsafe) public let kSecOIDSubjectAltName: CFString = "2.5.29.17"
/// The issuer alternative names (RFC 5280, 4.2.1.7).
nonisolated(unsafe) public let kSecOIDIssuerAltName: CFString = "2.5.29.18"
/// The basic constraints (RFC 5280, 4.2.1.9).
nonisolated(unsafe) public let kSecOIDBasicConstraints: CFString = "2.5.29.19"
/// The name constraints (RFC 5280, 4.2.1.10).
nonisolated(unsafe) public let kSecOIDNameConstraints: CFString = "2.5.29.30"
/// The CRL distribution points (RFC 5280, 4.2.1.13).
nonisolated(unsafe) public let kSecOIDCrlDistributionPoints: CFString = "2.5.29.31"
/// The certificate policies (RFC 5280, 4.2.1.4).
nonisolated(unsafe) public let kSecOIDCertificatePolicies: CFString = "2.5.29.32"
/// The policy mappings (RFC 5280, 4.2.1.5).
nonisolated(unsafe) public let kSecOIDPolicyMappings: CFString = "2.5.29.33"
/// The authority key identifier (RFC 5280, 4.2.1.1).
nonisolated(unsafe) public let kSecOIDAuthorityKeyIdentifier: CFString = "2.5.29.35"
/// The policy constraints (RFC 5280, 4.2.1.11).
nonisolated(unsafe) public let kSecOIDPolicyConstraints: CFString = "2.5.29.36"
/// An array of Data: the content of each object identifier.
nonisolated(unsafe) public let kSecOIDExtendedKeyUsage: CFString = "2.5.29.37"
/// The authority information access (RFC 5280, 4.2.2.1).
nonisolated(unsafe) public let kSecOIDAuthorityInfoAccess: CFString = "1.3.6.1.5.5.7.1.1"

// MARK: Uses of a key

/// Any use (RFC 5280, 4.2.1.12).
nonisolated(unsafe) public let kSecOIDExtendedKeyUsageAny: CFString = "2.5.29.37.0"
/// TLS servers (RFC 5280, 4.2.1.12).
nonisolated(unsafe) public let kSecOIDServerAuth: CFString = "1.3.6.1.5.5.7.3.1"
/// TLS clients (RFC 5280, 4.2.1.12).
nonisolated(unsafe) public let kSecOIDClientAuth: CFString = "1.3.6.1.5.5.7.3.2"
/// Signed code (RFC 5280, 4.2.1.12).
nonisolated(unsafe) public let kSecOIDExtendedUseCodeSigning: CFString = "1.3.6.1.5.5.7.3.3"
/// Signed and encrypted email (RFC 5280, 4.2.1.12).
nonisolated(unsafe) public let kSecOIDEmailProtection: CFString = "1.3.6.1.5.5.7.3.4"
/// Timestamps (RFC 5280, 4.2.1.12).
nonisolated(unsafe) public let kSecOIDTimeStamping: CFString = "1.3.6.1.5.5.7.3.8"
/// OCSP responses (RFC 5280, 4.2.1.12).
nonisolated(unsafe) public let kSecOIDOCSPSigning: CFString = "1.3.6.1.5.5.7.3.9"

// MARK: Attributes of names

/// When used as a key: an array of strings.
nonisolated(unsafe) public let kSecOIDCommonName: CFString = "2.5.4.3"
/// The surname (RFC 5280, appendix A.1).
nonisolated(unsafe) public let kSecOIDSurname: CFString = "2.5.4.4"
/// The serial number of the subject, not of the certificate.
nonisolated(unsafe) public let kSecOIDSerialNumber: CFString = "2.5.4.5"
/// The country, as two letters.
nonisolated(unsafe) public let kSecOIDCountryName: CFString = "2.5.4.6"
/// The locality.
nonisolated(unsafe) public let kSecOIDLocalityName: CFString = "2.5.4.7"
/// The state or province.
nonisolated(unsafe) public let kSecOIDStateProvinceName: CFString = "2.5.4.8"
/// The street address.
nonisolated(unsafe) public let kSecOIDStreetAddress: CFString = "2.5.4.9"
/// The organization.
nonisolated(unsafe) public let kSecOIDOrganizationName: CFString = "2.5.4.10"
/// The unit of the organization.
nonisolated(unsafe) public let kSecOIDOrganizationalUnitName: CFString = "2.5.4.11"
/// The title.
nonisolated(unsafe) public let kSecOIDTitle: CFString = "2.5.4.12"
/// A description.
nonisolated(unsafe) public let kSecOIDDescription: CFString = "2.5.4.13"
/// The given name.
nonisolated(unsafe) public let kSecOIDGivenName: CFString = "2.5.4.42"
/// When used as a key: an array of strings.
nonisolated(unsafe) public let kSecOIDEmailAddress: CFString = "1.2.840.113549.1.9.1"
