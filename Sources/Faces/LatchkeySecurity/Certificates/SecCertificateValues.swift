// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeychainModel
internal import LinuxSystem

/// Returns the content of a certificate, field by field.
///
/// - Parameters:
///   - certificate: the certificate.
///   - keys: the fields to return, `kSecOID…`; nil for all.
///   - error: receives errSecParam if `keys` holds anything other than strings.
/// - Returns: for each field, a dictionary with `kSecPropertyKeyLabel`,
///   `kSecPropertyKeyLocalizedLabel`, `kSecPropertyKeyType` and, if there is a value,
///   `kSecPropertyKeyValue`. The value of a section is an array of such dictionaries. Fields that
///   the certificate does not have are absent.
@discardableResult
public func SecCertificateCopyValues(
    _ certificate: SecCertificate, _ keys: CFArray?, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFDictionary? {
    reporting(to: error) {
        let wanted = keys.map { $0.compactMap { $0 as? String } }
        guard wanted?.count == keys?.count else {
            throw KeychainError.parameter("the keys of a certificate's values must be strings")
        }
        let values = CertificateValues(certificate.body).all
        return NSDictionary(dictionary: wanted.map { wanted in values.filter { wanted.contains($0.key) } } ?? values)
    }
}

/// The fields of one certificate as properties.
private struct CertificateValues {
    private typealias Property = [CFString: Any]

    private(set) var all: [String: Any] = [:]

    init(_ certificate: Certificate) {
        put(kSecOIDX509V1Version, Self.text("Version", "\(certificate.version)"))
        put(kSecOIDX509V1SerialNumber, Self.text("Serial Number", Self.spaced(certificate.serialNumber)))
        put(kSecOIDX509V1IssuerName, Self.section("Issuer Name", Self.name(certificate.issuer)))
        put(kSecOIDX509V1SubjectName, Self.section("Subject Name", Self.name(certificate.subject)))
        put(kSecOIDX509V1ValidityNotBefore, Self.dateProperty("Not Valid Before", certificate.validity.notBefore))
        put(kSecOIDX509V1ValidityNotAfter, Self.dateProperty("Not Valid After", certificate.validity.notAfter))
        put(
            kSecOIDX509V1SubjectPublicKeyAlgorithm,
            Self.algorithm("Public Key Algorithm", certificate.publicKey.algorithm))
        put(kSecOIDX509V1SubjectPublicKey, Self.data("Public Key Data", certificate.publicKey.key))
        put(kSecOIDX509V1SignatureAlgorithm, Self.algorithm("Signature Algorithm", certificate.signatureAlgorithm))
        put(kSecOIDX509V1Signature, Self.data("Signature", certificate.signature))
        put(kSecOIDCommonName, Self.array("CN", certificate.commonName.map { [$0] } ?? []))
        put(kSecOIDEmailAddress, Self.array("DNS", certificate.emailAddresses))
        // An extension must not replace a field or another extension.
        for each in certificate.extensions.all where all[each.identifier.description] == nil {
            all[each.identifier.description] = Self.property(each, of: certificate.extensions)
        }
        put(
            kSecOIDKeyUsage,
            Self.property(
                "Key Usage", kSecPropertyTypeNumber, NSNumber(value: Self.bits(certificate.extensions.keyUsage)))
        )
    }

    private mutating func put(_ key: CFString, _ property: Property) { all[key as String] = property }

    // MARK: Extensions

    private static func property(_ each: CertificateExtension, of extensions: CertificateExtensions) -> Property {
        let name = each.identifier.description
        if name == kSecOIDExtendedKeyUsage as String, let usages = extensions.extendedKeyUsages {
            return property("Extended Key Usage", kSecPropertyTypeArray, usages.map { Data($0.content) })
        }
        let content = decodedContent(name, extensions) ?? [data("Unparsed Data", each.value)]
        return section(name, [text("Critical", each.isCritical ? "Yes" : "No")] + content)
    }

    /// Nil for an extension with content that is not decoded.
    private static func decodedContent(_ name: String, _ extensions: CertificateExtensions) -> [Property]? {
        switch name as CFString {
        case kSecOIDBasicConstraints: extensions.basicConstraints.map(constraints)
        case kSecOIDSubjectAltName: extensions.subjectAlternativeNames?.map(property)
        case kSecOIDSubjectKeyIdentifier: extensions.subjectKeyIdentifier.map { [data("Key Identifier", $0)] }
        case kSecOIDAuthorityKeyIdentifier: extensions.authorityKeyIdentifier.map(authority)
        case kSecOIDCertificatePolicies:
            extensions.certificatePolicies?.enumerated().map { text("Policy Identifier #\($0 + 1)", $1.description) }
        case kSecOIDCrlDistributionPoints: extensions.crlDistributionPoints?.flatMap(\.names).map(property)
        case kSecOIDAuthorityInfoAccess: extensions.authorityInformation.map(access)
        default: nil
        }
    }

    private static func constraints(_ constraints: BasicConstraints) -> [Property] {
        [text("Certificate Authority", constraints.isCA ? "Yes" : "No")]
            + (constraints.pathLength.map { [text("Path Length Constraint", "\($0)")] } ?? [])
    }

    private static func authority(_ identifier: AuthorityKeyIdentifier) -> [Property] {
        (identifier.keyIdentifier.map { [data("Key Identifier", $0)] } ?? []) + (identifier.issuer ?? []).map(property)
            + (identifier.serialNumber.map { [text("Authority Certificate Serial Number", spaced($0))] } ?? [])
    }

    private static func access(_ information: AuthorityInformation) -> [Property] {
        let methods = [
            ("1.3.6.1.5.5.7.48.1", information.ocspResponders), ("1.3.6.1.5.5.7.48.2", information.issuerCertificates),
        ]
        return methods.flatMap { method, locations in locations.flatMap { [text("Access Method", method), url($0)] } }
    }

    private static func property(_ name: GeneralName) -> Property {
        switch name {
        case .dns(let bytes): text("DNS Name", String(decoding: bytes, as: UTF8.self))
        case .email(let bytes): text("Email Address", String(decoding: bytes, as: UTF8.self))
        case .uri(let bytes): url(String(decoding: bytes, as: UTF8.self))
        case .ip(let bytes): text("IP Address", IPAddress(bytes)?.description ?? spaced(bytes))
        case .directory(let name): section("Directory Name", Self.name(name))
        case .other(_, let bytes): data("Other Name", bytes)
        }
    }

    /// Apple's order of the bits: the order of RFC 5280, starting with the least significant bit.
    private static func bits(_ usage: KeyUsage?) -> UInt32 {
        (0..<9).reduce(0) { bits, index in
            bits | ((usage?.rawValue ?? 0) >> (15 - index) & 1 == 1 ? 1 << UInt32(index) : 0)
        }
    }

    // MARK: Parts

    private static func name(_ name: DistinguishedName) -> [Property] {
        name.relativeNames.joined().map { attribute in
            attribute.text.map { text(attribute.type.description, $0) }
                ?? data(attribute.type.description, attribute.value)
        }
    }

    private static func algorithm(_ label: String, _ algorithm: AlgorithmIdentifier) -> Property {
        let parameters =
            algorithm.hasNoParameters ? text("Parameters", "none") : data("Parameters", algorithm.parameters ?? [])
        return section(label, [text("Algorithm", algorithm.algorithm.description), parameters])
    }

    private static func dateProperty(_ label: String, _ time: CertificateTime) -> Property {
        let date = Date(timeIntervalSince1970: Double(time.secondsSince1970))
        return property(label, kSecPropertyTypeNumber, NSNumber(value: date.timeIntervalSinceReferenceDate))
    }

    private static func spaced(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { Hexadecimal.text($0, isUppercase: true) }.joined(separator: " ")
    }

    // MARK: Properties

    private static func text(_ label: String, _ value: String) -> Property {
        property(label, kSecPropertyTypeString, value)
    }

    private static func data(_ label: String, _ value: ArraySlice<UInt8>) -> Property {
        property(label, kSecPropertyTypeData, Data(value))
    }

    private static func array(_ label: String, _ value: [String]) -> Property {
        property(label, kSecPropertyTypeArray, value)
    }

    private static func section(_ label: String, _ value: [Property]) -> Property {
        property(label, kSecPropertyTypeSection, value)
    }

    /// A text property if the value is not a URL.
    private static func url(_ value: String) -> Property {
        URL(string: value).map { property("URI", kSecPropertyTypeURL, $0) } ?? text("URI", value)
    }

    private static func property(_ label: String, _ type: CFString, _ value: Any) -> Property {
        [
            kSecPropertyKeyLabel: label, kSecPropertyKeyLocalizedLabel: label, kSecPropertyKeyType: type,
            kSecPropertyKeyValue: value,
        ]
    }
}
