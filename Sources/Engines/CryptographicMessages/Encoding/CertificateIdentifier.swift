// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// How a message names the certificate of a signer or of a recipient (RFC 5652, sections 5.3 and
/// 6.2).
public enum CertificateIdentifier: Sendable {
    case issuerAndSerialNumber(issuer: DistinguishedName, serialNumber: [UInt8])
    /// The subject key identifier.
    case key([UInt8])

    /// Reads the next element: `IssuerAndSerialNumber`, or a key identifier with the tag `[0]`.
    init(_ reader: inout MessageReader) throws(KeychainError) {
        if let key = try reader.optional(DERTag.primitive(0)) {
            self = .key(Array(key.content))
        } else {
            var members = MessageReader(try reader.required(.sequence, "IssuerAndSerialNumber").content)
            let name = try members.required(.sequence, "issuer")
            let serial = try members.required(.integer, "serialNumber").content
            try members.requireEnd("IssuerAndSerialNumber")
            guard let issuer = DistinguishedName(der: Array(name.encoded)) else {
                throw .malformedMessage("the issuer of a certificate is not a name")
            }
            self = .issuerAndSerialNumber(issuer: issuer, serialNumber: Array(serial))
        }
    }

    /// Reads the next element of a key agreement. Its key identifier has a date and more beside it (RFC 5652, section
    /// 6.2.2).
    init(ofAgreement reader: inout MessageReader) throws(KeychainError) {
        if let identifier = try reader.optional(DERTag.constructed(0)) {
            var members = MessageReader(identifier.content)
            self = .key(Array(try members.required(.octetString, "subjectKeyIdentifier").content))
        } else {
            try self.init(&reader)
        }
    }

    /// Names a certificate by its issuer and its serial number.
    init(_ certificate: Certificate) {
        self = .issuerAndSerialNumber(
            issuer: certificate.issuer, serialNumber: Array(certificate.serialNumber))
    }

    /// Whether this names the certificate.
    public func matches(_ certificate: Certificate) -> Bool {
        switch self {
        case .issuerAndSerialNumber(let issuer, let serialNumber):
            certificate.serialNumber.elementsEqual(serialNumber) && Self.isEqual(certificate.issuer, issuer)
        case .key(let identifier):
            certificate.extensions.subjectKeyIdentifier?.elementsEqual(identifier) ?? false
        }
    }

    /// Whether two names are equal. Long ones must have the same bytes: a message can have many, and
    /// normalizing them takes long.
    private static func isEqual(_ one: DistinguishedName, _ other: DistinguishedName) -> Bool {
        if one.der == other.der { return true }
        return max(one.der.count, other.der.count) <= maxNormalized && one.matches(other)
    }

    private static let maxNormalized = 4096

    /// `IssuerAndSerialNumber`, or the key identifier with the tag `[0]`.
    var der: [UInt8] {
        switch self {
        case .issuerAndSerialNumber(let issuer, let serialNumber):
            MessageWriter.sequence(Array(issuer.der), DERElement.of(DERTag.integer.rawValue, serialNumber))
        case .key(let identifier): DERElement.of(DERTag.primitive(0), identifier)
        }
    }
}

extension CertificateIdentifier: CustomStringConvertible {
    /// `serial number 01AB of CN=Example CA`, or `key identifier 01AB`.
    public var description: String {
        switch self {
        case .issuerAndSerialNumber(let issuer, let serialNumber):
            "serial number \(Self.shown(serialNumber)) of \(issuer)"
        case .key(let identifier): "key identifier \(Self.shown(identifier))"
        }
    }

    private static func shown(_ bytes: [UInt8]) -> String { Hexadecimal.text(bytes.prefix(20), isUppercase: true) }
}
