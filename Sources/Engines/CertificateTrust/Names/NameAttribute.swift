// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SwiftASN1

/// One attribute of a distinguished name, such as `CN=example.com`.
public struct NameAttribute: Sendable {
    public let type: ObjectIdentifier
    /// The DER element of the value.
    public let value: ArraySlice<UInt8>
    /// The content of the value; nil if the value is constructed.
    private let content: ArraySlice<UInt8>?

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let type = try ObjectIdentifier(from: &nodes)
            guard let value = nodes.next() else { throw CertificateError("an attribute of a name has no value") }
            return NameAttribute(type: type, value: value.encodedBytes, content: value.primitiveContent)
        }
    }

    private init(type: ObjectIdentifier, value: ArraySlice<UInt8>, content: ArraySlice<UInt8>?) {
        self.type = type
        self.value = value
        self.content = content
    }

    /// The value as text; nil if its type is not a string type, or its bytes are not valid for the
    /// type.
    public var text: String? {
        guard let content, let tag = value.first, tag < 0x1F else { return nil }
        switch ASN1Identifier(tagWithNumber: UInt(tag), tagClass: .universal) {
        case .utf8String: return String(validating: content, as: UTF8.self)
        case .printableString, .ia5String, .numericString, .visibleString:
            return content.allSatisfy { $0 < 0x80 } ? String(decoding: content, as: UTF8.self) : nil
        // T.61 is decoded as Latin-1, as other implementations do.
        case .teletexString: return String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) }))
        case .bmpString:
            return Self.text(content, width: 2) { String(validating: $0.map { UInt16($0) }, as: UTF16.self) }
        case .universalString: return Self.text(content, width: 4) { String(validating: $0, as: UTF32.self) }
        default: return nil
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>, width: Int, _ decode: ([UInt32]) -> String?) -> String? {
        var (fields, units): (FieldReader, [UInt32]) = (FieldReader(bytes), [])
        while let unit = fields.number(width: width) { units.append(UInt32(truncatingIfNeeded: unit)) }
        return fields.isAtEnd ? decode(units) : nil
    }

    /// The text in UTF-8, in lower case and without redundant white space, for comparison; nil if
    /// the value has no text.
    var comparisonText: [UInt8]? {
        asciiComparisonText
            ?? text.map { text in
                Array(text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ").utf8)
            }
    }

    /// The same for ASCII values, the most common, without the cost of `String`; nil for other values.
    private var asciiComparisonText: [UInt8]? {
        // UTF8String, PrintableString, IA5String.
        guard let content, let tag = value.first, tag == 0x0C || tag == 0x13 || tag == 0x16 else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var hasGap = false
        for byte in content {
            switch byte {
            case 0x20, 0x09...0x0D: hasGap = !text.isEmpty
            case 0..<0x80:
                if hasGap { text.append(0x20) }
                hasGap = false
                text.append(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte)
            default: return nil
            }
        }
        return text
    }
}

// MARK: CustomStringConvertible

extension NameAttribute: CustomStringConvertible {
    public var description: String {
        let name = Self.shortNames[type] ?? type.description
        guard let text else { return "\(name)=#\(Hexadecimal.text(value))" }
        return "\(name)=\(Self.escaped(text))"
    }

    /// Escapes as RFC 4514, section 2.4, and writes characters that could control a terminal in
    /// hexadecimal.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        let last = text.unicodeScalars.count - 1
        for (index, character) in text.unicodeScalars.enumerated() {
            guard index < maxShown else { return escaped + "…" }
            let isLast = index == last
            switch character {
            case ",", "+", "\"", "\\", "<", ">", ";": escaped += "\\\(character)"
            case "#" where index == 0: escaped += "\\#"
            case " " where index == 0 || isLast: escaped += "\\ "
            case _ where character.properties.generalCategory.isInvisible:
                for byte in String(character).utf8 { escaped += "\\" + Hexadecimal.text(byte) }
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    private static let maxShown = 500

    private static let shortNames: [ObjectIdentifier: String] = [
        .commonName: "CN", .surname: "SN", .serialNumberName: "serialNumber", .countryName: "C", .localityName: "L",
        .stateName: "ST",
        .streetAddress: "STREET", .organizationName: "O", .organizationalUnitName: "OU", .title: "title",
        .givenName: "GN",
        .emailAddressName: "emailAddress", .domainComponent: "DC", .userID: "UID",
    ]
}

extension Unicode.GeneralCategory {
    fileprivate var isInvisible: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
