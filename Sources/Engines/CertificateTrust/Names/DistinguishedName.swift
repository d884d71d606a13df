// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The name of a subject or an issuer (RFC 5280, section 4.1.2.4).
public struct DistinguishedName: Sendable {
    /// The DER `SEQUENCE`, as it stands in the certificate.
    public let der: ArraySlice<UInt8>
    /// Each a set of attributes, mostly of one; the widest first (country), the narrowest last (common name).
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

    /// A name in DER; nil for anything else.
    public init?(der: [UInt8]) {
        guard let name = try? DistinguishedName(DER.parse(der)) else { return nil }
        self = name
    }

    public var isEmpty: Bool { relativeNames.isEmpty }

    /// The attributes of one type, in their order.
    func values(of type: ObjectIdentifier) -> [NameAttribute] {
        relativeNames.joined().filter { $0.type == type }
    }

    /// Whether the two are one name (RFC 5280, section 7.1): whatever the string types are, upper and lower case alike, and runs of spaces one.
    public func matches(_ other: DistinguishedName) -> Bool {
        der == other.der || normalized == other.normalized
    }

    /// Each relative name in the form that two equal ones share.
    var normalizedRelativeNames: [[UInt8]] { relativeNames.map(Self.normalized) }

    /// The name in the form that two equal names share: DER again, with every string a `UTF8String` in lower case and without needless spaces.
    public var normalized: [UInt8] {
        DERElement.of(0x30, normalizedContent)
    }

    /// The same without the outer `SEQUENCE`.
    public var normalizedContent: [UInt8] { relativeNames.flatMap(Self.normalized) }

    private static func normalized(_ attributes: [NameAttribute]) -> [UInt8] {
        let members = attributes.map { attribute in
            let value = attribute.comparisonText.map { DERElement.of(0x0C, $0) } ?? Array(attribute.value)
            return DERElement.of(0x30, DERElement.of(0x06, attribute.type.content) + value)
        }
        // The order of a set is that of its members' bytes.
        return DERElement.of(0x31, members.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 })
    }
}

// MARK: CustomStringConvertible

extension DistinguishedName: CustomStringConvertible {
    /// RFC 4514's form, the narrowest first: `CN=example.com,O=Example,C=US`.
    public var description: String {
        let shown = relativeNames.reversed().prefix(Self.maxShown).map { names in
            let some = names.prefix(Self.maxShown).map(\.description)
            return (some + (names.count > some.count ? ["…"] : [])).joined(separator: "+")
        }
        return (shown + (relativeNames.count > shown.count ? ["…"] : [])).joined(separator: ",")
    }

    /// Nobody reads more.
    private static let maxShown = 50
}
