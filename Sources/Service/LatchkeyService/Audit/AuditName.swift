// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Keybag
internal import LinuxSystem

/// A name from outside, as a line of the audit log contains it: escaped, and truncated to
/// ``maxLength``.
///
/// AUD-8: a truncated name is followed by its length in bytes and the first 16 bytes of its SHA-256, to identify it.
struct AuditName: Sendable, Hashable {
    /// The content of the JSON string, without the quotation marks (RFC 8259 §7).
    let escaped: String
    /// The length and digest of the whole name; nil if it was not truncated.
    let original: Original?

    struct Original: Sendable, Hashable {
        /// In bytes of UTF-8.
        let length: Int
        /// 32 hexadecimal digits.
        let digest: String
    }

    init(_ name: String) {
        if name.utf8.count <= Self.maxLength, name.utf8.allSatisfy(Self.isPlain) {
            (escaped, original) = (name, nil)
            return
        }
        var escaped = ""
        var length = 0
        for scalar in name.unicodeScalars {
            let text = Self.escape(scalar)
            length += text.utf8.count
            guard length <= Self.maxLength else {
                let bytes = Array(name.utf8)
                self.escaped = escaped + "…"
                original = Original(
                    length: bytes.count, digest: Hexadecimal.text(AuditKey.digest(of: bytes).prefix(16)))
                return
            }
            escaped += text
        }
        self.escaped = escaped
        original = nil
    }

    /// The text without its escapes.
    var text: String { Self.text(escaped) }

    /// Returns the text of an escaped string; the string itself if it is not a valid JSON string.
    static func text(_ escaped: String) -> String {
        guard escaped.utf8.contains(UInt8(ascii: "\\")) else { return escaped }
        return (try? JSONDecoder().decode(String.self, from: Data("\"\(escaped)\"".utf8))) ?? escaped
    }

    /// In bytes, including escapes.
    static let maxLength = 256

    // MARK: Escapes

    /// Returns whether the byte is an ASCII character that needs no escape.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Returns a character as the line contains it: itself, or `\u…` if it could end the string or
    /// the line, or control a terminal.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"", "\\": return "\\\(scalar)"
        case "\u{20}"..."\u{7E}": return String(scalar)
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            return UTF16.encode(scalar).map { units in
                units.map { "\\u" + Hexadecimal.text($0.bigEndianBytes) }.joined()
            } ?? "\\ufffd"
        default: return String(scalar)
        }
    }
}
