// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The attributes of a certificate item that are derived from the certificate (keychain-behaviour
/// §1.3). Attributes that the caller gives take precedence.
public enum CertificateAttributes {
    /// All derived attributes.
    public static func standard(_ certificate: Certificate) -> [ItemAttribute: AttributeValue] {
        var attributes = identifying(certificate)
        attributes[.certificateEncoding] = .number(derEncoding)
        attributes[.subject] = .data(certificate.subject.normalizedContent)
        attributes[.publicKeyHash] = .data(certificate.publicKeyHash)
        attributes[.subjectKeyIdentifier] = certificate.extensions.subjectKeyIdentifier.map { .data(Array($0)) }
        attributes[.label] = certificate.subjectSummary.map { .string($0) }
        return attributes
    }

    /// The attributes that identify a certificate uniquely: type, issuer and serial number.
    public static func identifying(_ certificate: Certificate) -> [ItemAttribute: AttributeValue] {
        [
            .certificateType: .number(Int64(certificate.version)), .issuer: .data(certificate.issuer.normalizedContent),
            .serialNumber: .data(Array(certificate.serialNumber)),
        ]
    }

    /// The value to search for: the normalized content of a name in DER, any other bytes unchanged.
    public static func searchedName(_ bytes: [UInt8]) -> [UInt8] {
        DistinguishedName(der: bytes)?.normalizedContent ?? bytes
    }

    /// `CSSM_CERT_ENCODING_DER`.
    private static let derEncoding: Int64 = 3
}
