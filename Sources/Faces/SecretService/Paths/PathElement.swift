// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

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
                element += "_" + Hexadecimal.text(byte)
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
            guard let high = rest.popFirst(), let low = rest.popFirst(), let decoded = Hexadecimal.byte(high, low)
            else { return nil }
            bytes.append(decoded)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty, encode(text) == element else {
            return nil
        }
        return text
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
