// SPDX-License-Identifier: Apache-2.0

/// The escaped form of bytes as one element of an object path: letters and digits stand for
/// themselves, every other byte is `_` and two lower-case hexadecimal digits, as in gnome-keyring.
///
/// It is reversible: different bytes have different forms, and each has one.
enum PathElement {
    /// Returns the form of a text that is not empty.
    static func encode(_ text: String) -> String {
        var element = ""
        for byte in text.utf8 {
            if isPlain(byte) {
                element.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                element += "_" + hexadecimal([byte])
            }
        }
        return element
    }

    /// Returns the text of an element; nil if it is not the form of a text.
    static func decode(_ element: String) -> String? {
        var bytes: [UInt8] = []
        var rest = ArraySlice(element.utf8)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty, encode(text) == element else {
            return nil
        }
        return text
    }

    /// The lower-case hexadecimal digits of bytes.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count &* 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 0xF))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The bytes of lower-case hexadecimal digits; nil for another text.
    static func bytes(hexadecimal text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = ArraySlice(text.utf8)
        while let first = rest.popFirst() {
            guard let high = value(of: first), let low = rest.popFirst().flatMap(value) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The character of a digit.
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ (value &- 10)
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        default: nil
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
