// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The attributes that an item of a certificate has by itself (keychain-behaviour §1.3). What its maker gives comes before them.
public enum CertificateAttributes {
    public static func standard(_ certificate: Certificate) -> [ItemAttribute: AttributeValue] {
        var attributes = identifying(certificate)
        attributes[.certificateEncoding] = .number(derEncoding)
        attributes[.subject] = .data(certificate.subject.normalizedContent)
        attributes[.publicKeyHash] = .data(certificate.publicKeyHash)
        attributes[.subjectKeyIdentifier] = certificate.extensions.subjectKeyIdentifier.map { .data(Array($0)) }
        attributes[.label] = certificate.subjectSummary.map { .string($0) }
        return attributes
    }

    /// Those by which one certificate is told from every other.
    public static func identifying(_ certificate: Certificate) -> [ItemAttribute: AttributeValue] {
        [
            .certificateType: .number(Int64(certificate.version)), .issuer: .data(certificate.issuer.normalizedContent),
            .serialNumber: .data(Array(certificate.serialNumber)),
        ]
    }

    /// The name that a search is given: normalized where it is one in DER, else as it is.
    public static func searchedName(_ bytes: [UInt8]) -> [UInt8] {
        DistinguishedName(der: bytes)?.normalizedContent ?? bytes
    }

    /// `CSSM_CERT_ENCODING_DER`.
    private static let derEncoding: Int64 = 3
}
