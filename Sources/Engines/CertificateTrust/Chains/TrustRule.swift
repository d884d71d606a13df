// SPDX-License-Identifier: Apache-2.0

/// The rules that a chain can break. One table elsewhere says which of Apple's codes each is.
public enum TrustRule: String, Sendable, CaseIterable {
    /// A certificate's form: a part that cannot be read, stands twice, or belongs to another version.
    case form
    /// RFC 5280, section 4.1.2.2: positive, of at most 20 bytes.
    case serialNumber
    /// RFC 5280, section 4.1.2.5.
    case expired
    case notYetValid
    /// RFC 5280, section 4.2.1.9: who issues is an authority.
    case authority
    case pathLength
    /// RFC 5280, sections 4.2.1.1 and 4.2.1.2: who issues is named by its key.
    case keyIdentifier
    /// RFC 5280, section 4.2.1.3: who issues may sign certificates.
    case signingUsage
    /// RFC 5280, section 4.2.1.3: the leaf's key may be used for what is asked.
    case keyUsage
    /// RFC 5280, section 4.2.1.12: what the certificates are for.
    case extendedKeyUsage
    /// RFC 5280, section 4.2.1.10: which names an authority may give.
    case nameConstraints
    /// RFC 5280, sections 4.2.1.4, 4.2.1.5, 4.2.1.11 and 4.2.1.14: a policy that an authority requires.
    case certificatePolicy
    /// RFC 9525: the leaf is for the server that was asked for.
    case serverName
    /// RFC 5280, section 4.2.1.6, and Baseline Requirements, section 7.1.2.7.12: a server's names of hosts have no underscore.
    case hostNameForm
    /// RFC 8550: the leaf is for the address of mail that was asked for.
    case mailAddress
    /// A policy asks for an anchor of its own.
    case requiredAnchor
    /// A policy asks for an extension.
    case requiredExtension
    /// A policy asks for a name in the subject.
    case requiredName
    /// The leaf of a server is no authority.
    case endEntity
    /// The leaf of a server holds for longer than is accepted.
    case validityPeriod
    /// RFC 5280, section 4.2: a critical extension that is not understood.
    case unknownCriticalExtension
    /// The subject of an authority, and the issuer of anybody, has a name.
    case emptyName
    /// A key that is weak, or of an algorithm that is not served.
    case key
    /// A signature algorithm that is weak, or not served.
    case algorithm
    case signature
    /// RFC 5280, section 6.3, and RFC 6960: the certificate was revoked.
    case revoked
    /// It is not known whether it was, and has to be.
    case revocationUnknown
    /// A trust setting of the user or the administrator forbids a certificate.
    case denied
    /// No chain leads to an anchor.
    case untrusted
    /// More work would be needed than is spent on one verdict.
    case budget
}
