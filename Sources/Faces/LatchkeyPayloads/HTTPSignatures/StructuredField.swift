// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A value of a structured field (RFC 9651, section 3.3).
enum StructuredValue: Hashable, Sendable {
    /// At most 15 digits.
    case integer(Int64)
    /// In thousandths; at most 12 digits before the point.
    case decimal(thousandths: Int64)
    /// Printable ASCII.
    case string(String)
    case token(String)
    case bytes([UInt8])
    case boolean(Bool)
    /// Seconds since 1970.
    case date(Int64)
    case displayString(String)
}

/// A value with its parameters.
struct StructuredItem: Hashable, Sendable {
    var value: StructuredValue
    var parameters = StructuredParameters()
}

/// A member of a list or of a dictionary.
enum StructuredMember: Hashable, Sendable {
    case item(StructuredItem)
    case innerList([StructuredItem], StructuredParameters)
}

// MARK: The canonical text (RFC 9651, section 4.1)

extension StructuredValue {
    var text: String {
        switch self {
        case .integer(let number): "\(number)"
        case .decimal(let thousandths): Self.text(ofThousandths: thousandths)
        case .string(let text):
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        case .token(let text): text
        case .bytes(let bytes): ":" + Base64.text(bytes) + ":"
        case .boolean(let flag): flag ? "?1" : "?0"
        case .date(let seconds): "@\(seconds)"
        case .displayString(let text): Self.text(ofDisplayString: text)
        }
    }

    private static func text(ofThousandths number: Int64) -> String {
        let digits = String(number.magnitude % 1000 + 1000).dropFirst()
        let fraction = digits.hasSuffix("00") ? digits.dropLast(2) : digits.hasSuffix("0") ? digits.dropLast() : digits
        return "\(number < 0 ? "-" : "")\(number.magnitude / 1000).\(fraction)"
    }

    private static func text(ofDisplayString text: String) -> String {
        let encoded = text.utf8.map { byte in
            let isPlain = 0x20...0x7E ~= byte && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "\"")
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + Hexadecimal.text(byte)
        }
        return "%\"" + encoded.joined() + "\""
    }
}

extension StructuredMap<StructuredValue> {
    var text: String {
        all.map { $0.value == .boolean(true) ? ";\($0.key)" : ";\($0.key)=\($0.value.text)" }.joined()
    }
}

extension StructuredItem {
    var text: String { value.text + parameters.text }
}

extension StructuredMember {
    var text: String {
        switch self {
        case .item(let item): item.text
        case .innerList(let items, let parameters):
            "(" + items.map(\.text).joined(separator: " ") + ")" + parameters.text
        }
    }
}

extension StructuredMap<StructuredMember> {
    var text: String {
        all.map { entry in
            if case .item(let item) = entry.value, item.value == .boolean(true) {
                return entry.key + item.parameters.text
            }
            return "\(entry.key)=\(entry.value.text)"
        }
        .joined(separator: ", ")
    }
}
