// SPDX-License-Identifier: Apache-2.0

/// The rules that a chain can break. ``status`` maps each to one of Apple's codes.
public enum TrustRule: String, Sendable, CaseIterable {
    /// The syntax of a certificate: a field that cannot be parsed, occurs twice, or belongs to
    /// another version.
    case form
    /// RFC 5280, section 4.1.2.2: the serial number is positive and has at most 20 bytes.
    case serialNumber
    /// RFC 5280, section 4.1.2.5: the validation time is in the validity period.
    case expired
    case notYetValid
    /// RFC 5280, section 4.2.1.9: an issuer is a CA.
    case authority
    case pathLength
    /// RFC 5280, sections 4.2.1.1 and 4.2.1.2: the key identifiers of issuer and certificate match.
    case keyIdentifier
    /// RFC 5280, section 4.2.1.3: an issuer's key may sign certificates.
    case signingUsage
    /// RFC 5280, section 4.2.1.3: the leaf's key may be used as the policy requires.
    case keyUsage
    /// RFC 5280, section 4.2.1.12: the certificates are for the use that the policy requires.
    case extendedKeyUsage
    /// RFC 5280, section 4.2.1.10: the names are permitted by the CAs above.
    case nameConstraints
    /// RFC 5280, sections 4.2.1.4, 4.2.1.5, 4.2.1.11 and 4.2.1.14: a policy that a CA requires is
    /// valid.
    case certificatePolicy
    /// RFC 9525: the leaf is for the required server name.
    case serverName
    /// RFC 5280, section 4.2.1.6, and Baseline Requirements, section 7.1.2.7.12: a server's host
    /// names have no underscore.
    case hostNameForm
    /// RFC 8550: the leaf is for the required email address.
    case mailAddress
    /// The chain ends in an anchor that the policy requires.
    case requiredAnchor
    /// The certificates have an extension that the policy requires.
    case requiredExtension
    /// The subject has a name that the policy requires.
    case requiredName
    /// The leaf of a server is not a CA certificate.
    case endEntity
    /// The validity period of a server's leaf is not too long.
    case validityPeriod
    /// RFC 5280, section 4.2: every critical extension is supported.
    case unknownCriticalExtension
    /// A CA's subject, and every issuer, is not empty.
    case emptyName
    /// Every key is strong enough and of a supported algorithm.
    case key
    /// Every signature algorithm is strong enough and supported.
    case algorithm
    /// The issuer's key signed the certificate.
    case signature
    /// RFC 5280, section 6.3, and RFC 6960: the certificate was revoked.
    case revoked
    /// It is not known whether the certificate was revoked, and the policy requires that.
    case revocationUnknown
    /// RFC 6962: logs that the program knows have the certificate.
    case transparency
    /// A trust setting of the user or the administrator denies a certificate.
    case denied
    /// No chain leads to an anchor.
    case untrusted
    /// The search or the checks need more work than ``WorkBudget`` allows.
    case budget
}
