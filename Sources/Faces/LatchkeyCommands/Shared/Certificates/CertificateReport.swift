// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LinuxSystem

/// A certificate in the output of `latchkey certificate inspect`, in the shape of its JSON.
struct CertificateReport: Encodable {
    var subject: String
    var issuer: String
    /// Hexadecimal, as encoded in the certificate.
    var serialNumber: String
    var version: Int
    /// RFC 3339.
    var notBefore: String
    var notAfter: String
    var publicKey: String
    var signature: String
    var isAuthority: Bool
    var pathLength: Int?
    var names: [String]
    var keyUsage: String?
    var extendedKeyUsages: [String]
    var policies: [String]
    var permittedNames: [String]
    var excludedNames: [String]
    var subjectKeyIdentifier: String?
    var authorityKeyIdentifier: String?
    var ocspResponders: [String]
    var issuerCertificates: [String]
    /// The locations of the CRLs that cover the certificate.
    var revocationLists: [String]
    /// Critical extensions that are not supported.
    var unknownCriticalExtensions: [String]
    /// Errors in the form of the certificate.
    var defects: [String]
    /// Hexadecimal.
    var sha256: String
    var sha1: String
    /// The pin: the SHA-256 of the SubjectPublicKeyInfo, in base64.
    var pin: String

    init(_ certificate: Certificate) {
        let extensions = certificate.extensions
        subject = certificate.subject.description
        issuer = certificate.issuer.description
        serialNumber = Hexadecimal.text(certificate.serialNumber)
        version = certificate.version
        notBefore = certificate.validity.notBefore.description
        notAfter = certificate.validity.notAfter.description
        publicKey = certificate.publicKey.description
        signature = certificate.signatureName
        isAuthority = extensions.basicConstraints?.isCA ?? false
        pathLength = extensions.basicConstraints?.pathLength
        names = (extensions.subjectAlternativeNames ?? []).map(\.description)
        keyUsage = extensions.keyUsage?.description
        extendedKeyUsages = (extensions.extendedKeyUsages ?? []).map(\.usageName)
        policies = (extensions.certificatePolicies ?? []).map(\.description)
        permittedNames = (extensions.nameConstraints?.permitted ?? []).map(\.description)
        excludedNames = (extensions.nameConstraints?.excluded ?? []).map(\.description)
        subjectKeyIdentifier = extensions.subjectKeyIdentifier.map { Hexadecimal.text($0) }
        authorityKeyIdentifier = extensions.authorityKeyIdentifier?.keyIdentifier.map { Hexadecimal.text($0) }
        ocspResponders = extensions.authorityInformation?.ocspResponders ?? []
        issuerCertificates = extensions.authorityInformation?.issuerCertificates ?? []
        revocationLists = (extensions.crlDistributionPoints ?? []).flatMap(\.locations)
        unknownCriticalExtensions = extensions.unknownCritical.map(\.description)
        defects = certificate.defects
        sha256 = Hexadecimal.text(certificate.sha256)
        sha1 = Hexadecimal.text(certificate.sha1)
        pin = Base64.text(certificate.publicKey.sha256)
    }

    /// The report as text: one line for each part that is present.
    var text: TerminalText {
        let authority = isAuthority ? "yes\(pathLength.map { ", with at most \($0) below" } ?? "")" : "no"
        let lines: [(String, [String])] = [
            ("Subject", [subject]), ("Issuer", [issuer]), ("Serial number", [serialNumber]),
            ("Valid", ["\(notBefore) to \(notAfter)"]),
            ("Names", names), ("Public key", [publicKey]), ("Signed by", [signature]), ("Authority", [authority]),
            ("Key usage", keyUsage.map { [$0] } ?? []), ("Extended usage", extendedKeyUsages), ("Policies", policies),
            ("Permitted names", permittedNames), ("Excluded names", excludedNames), ("OCSP", ocspResponders),
            ("Revocation lists", revocationLists),
            ("Issuer's certificate", issuerCertificates), ("Subject key", subjectKeyIdentifier.map { [$0] } ?? []),
            ("Authority key", authorityKeyIdentifier.map { [$0] } ?? []), ("Not understood", unknownCriticalExtensions),
            ("Defects", defects), ("SHA-256", [sha256]), ("SHA-1", [sha1]), ("Pin", ["sha256/\(pin)"]),
        ]
        let width = 22
        return lines.filter { !$0.1.isEmpty }.map { name, values -> TerminalText in
            let separator: TerminalText = "\n\(TerminalText.spaces(width))"
            let texts = values.map { TerminalText($0, maxLength: PrintableText.defaultMaxLength) }
            return "\(name):\(TerminalText.spaces(width - name.count - 1))\(texts.joined(separator: separator))\n"
        }.joined()
    }
}
