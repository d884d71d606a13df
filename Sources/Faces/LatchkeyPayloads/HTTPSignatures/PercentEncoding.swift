// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The percent encoding of query parameters (RFC 9421, section 2.2.8: parsed as
/// `application/x-www-form-urlencoded`, and encoded again without `+`).
enum PercentEncoding {
    /// Decodes a name or a value of a query; `+` is a space.
    ///
    /// - Returns: nil if the text has an incomplete escape or is not UTF-8. A browser would replace
    ///   such bytes, so that different queries had the same signature.
    static func decodeForm(_ text: Substring) -> String? {
        var (bytes, rest): ([UInt8], Substring.UTF8View.SubSequence) = ([], text.utf8[...])
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst(), let low = rest.popFirst(),
                    let decoded = Hexadecimal.byte(high, low, letters: .any)
                else { return nil }
                bytes.append(decoded)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes everything except ASCII letters, digits and `*-._`; a space is `%20`.
    static func encodeForm(_ text: String) -> String {
        text.utf8.map { byte in
            byte.isLetter || byte.isDigit || "*-._".utf8.contains(byte)
                ? String(Unicode.Scalar(byte)) : "%" + Hexadecimal.text(byte, isUppercase: true)
        }
        .joined()
    }
}
