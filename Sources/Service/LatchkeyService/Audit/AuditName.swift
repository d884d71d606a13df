// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Keybag

/// A name from outside as a line of the audit log holds it: escaped, and cut where it is longer than ``maxLength``.
///
/// AUD-8: a name that was cut is followed by its length in bytes and the first 16 bytes of its SHA-256, by which it is recognised.
struct AuditName: Sendable, Hashable {
    /// What stands between the quotes of the string of JSON (RFC 8259 §7).
    let escaped: String
    /// What the name was before it was cut; nil where it is whole.
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
                    length: bytes.count, digest: Self.hexadecimal(AuditKey.digest(of: bytes).prefix(16)))
                return
            }
            escaped += text
        }
        self.escaped = escaped
        original = nil
    }

    /// The members of a line: `"program":"…"`, and `programBytes` and `programDigest` where the name was cut.
    func members(_ key: String) -> String {
        let member = "\"\(key)\":\"\(escaped)\""
        guard let original else { return member }
        return "\(member),\"\(key)Bytes\":\(original.length),\"\(key)Digest\":\"\(original.digest)\""
    }

    /// The text without its escapes.
    var text: String { Self.text(escaped) }

    /// The text of an escaped string; the string as it is where it is no string of JSON.
    static func text(_ escaped: String) -> String {
        guard escaped.utf8.contains(UInt8(ascii: "\\")) else { return escaped }
        return (try? JSONDecoder().decode(String.self, from: Data("\"\(escaped)\"".utf8))) ?? escaped
    }

    /// In bytes, escapes included.
    static let maxLength = 256

    // MARK: Escapes

    /// Whether the byte is an ASCII character that stands for itself.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// What the line holds of a character: itself, or `\u…` where it could end the string or the line, or a terminal would obey it.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"", "\\": return "\\\(scalar)"
        case "\u{20}"..."\u{7E}": return String(scalar)
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            return UTF16.encode(scalar).map { units in units.map { "\\u" + digits($0) }.joined() } ?? "\\ufffd"
        default: return String(scalar)
        }
    }

    private static func digits(_ unit: UInt16) -> String {
        let text = String(unit, radix: 16)
        return String(repeating: "0", count: max(0, 4 - text.count)) + text
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
