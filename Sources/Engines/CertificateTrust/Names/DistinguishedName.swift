// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The distinguished name of a subject or an issuer (RFC 5280, section 4.1.2.4).
public struct DistinguishedName: Sendable {
    /// The DER `SEQUENCE`, exactly as encoded in the certificate.
    public let der: ArraySlice<UInt8>
    /// The relative distinguished names in encoded order, from the most general (country) to the
    /// most specific (common name). Each is a set of attributes, usually of one.
    public let relativeNames: [[NameAttribute]]

    init(_ node: ASN1Node) throws {
        der = node.encodedBytes
        relativeNames = try DER.sequence(node, identifier: .sequence) { nodes in
            var names: [[NameAttribute]] = []
            while let set = nodes.next() {
                let attributes = try DER.set(set, identifier: .set) { members in
                    var attributes: [NameAttribute] = []
                    while let member = members.next() { attributes.append(try NameAttribute(member)) }
                    return attributes
                }
                guard !attributes.isEmpty else { throw CertificateError("a relative distinguished name is empty") }
                names.append(attributes)
            }
            return names
        }
    }

    /// Parses a name in DER; nil if the bytes are not one.
    public init?(der: [UInt8]) {
        guard let name = try? DistinguishedName(DER.parse(der)) else { return nil }
        self = name
    }

    public var isEmpty: Bool { relativeNames.isEmpty }

    /// The attributes of one type, in encoded order.
    func values(of type: ObjectIdentifier) -> [NameAttribute] {
        relativeNames.joined().filter { $0.type == type }
    }

    /// Whether the names are equal (RFC 5280, section 7.1). String types and case do not matter,
    /// and a run of white space counts as one space.
    public func matches(_ other: DistinguishedName) -> Bool {
        der == other.der || normalized == other.normalized
    }

    /// The normalized DER of each relative distinguished name; equal names have equal forms.
    var normalizedRelativeNames: [[UInt8]] { relativeNames.map(Self.normalized) }

    /// The normalized DER of the name: every string is a `UTF8String` in lower case without
    /// redundant spaces. Equal names have equal forms.
    public var normalized: [UInt8] {
        DERElement.of(0x30, normalizedContent)
    }

    /// The content of ``normalized``, without the header of the outer `SEQUENCE`.
    public var normalizedContent: [UInt8] { relativeNames.flatMap(Self.normalized) }

    private static func normalized(_ attributes: [NameAttribute]) -> [UInt8] {
        let members = attributes.map { attribute in
            let value = attribute.comparisonText.map { DERElement.of(0x0C, $0) } ?? Array(attribute.value)
            return DERElement.of(0x30, DERElement.of(0x06, attribute.type.content) + value)
        }
        // DER orders the members of a SET by their encodings.
        return DERElement.of(0x31, members.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 })
    }
}

// MARK: CustomStringConvertible

extension DistinguishedName: CustomStringConvertible {
    /// The form of RFC 4514, most specific first: `CN=example.com,O=Example,C=US`.
    public var description: String {
        let shown = relativeNames.reversed().prefix(Self.maxShown).map { names in
            let some = names.prefix(Self.maxShown).map(\.description)
            return (some + (names.count > some.count ? ["…"] : [])).joined(separator: "+")
        }
        return (shown + (relativeNames.count > shown.count ? ["…"] : [])).joined(separator: ",")
    }

    /// The most relative names, and attributes of each, that ``description`` prints.
    private static let maxShown = 50
}
