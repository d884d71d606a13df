// SPDX-License-Identifier: Apache-2.0

/// Untrusted text (from a certificate, an item, an argument or an error) in a form that a terminal
/// only displays.
///
/// Control characters, direction marks, line ends, invisible and unassigned characters become
/// visible escapes: `\n`, `\x1b`, `\u{202e}`. All other characters are kept, including backslashes:
/// the escapes are for users, and programs cannot decode them.
public struct PrintableText: Hashable, Sendable {
    /// The text with its escapes.
    public let string: String

    /// - Parameters:
    ///   - lines: whether line feeds and tabs are escaped.
    ///   - maxLength: the maximum number of Unicode scalars of `text` that are shown; the rest is
    ///     replaced by a note. nil for no limit.
    public init(_ text: some StringProtocol, lines: LineBreaks = .escaped, maxLength: Int? = defaultMaxLength) {
        let isPlain = text.utf8.allSatisfy {
            (0x20...0x7E).contains($0) || lines == .kept && ($0 == 0x0A || $0 == 0x09)
        }
        if isPlain, maxLength.map({ text.utf8.count <= $0 }) ?? true {
            string = String(text)
            return
        }
        let scalars = text.unicodeScalars
        let shown = maxLength.map { scalars.prefix($0) } ?? scalars[...]
        var escaped = ""
        for scalar in shown {
            let isKept = lines == .kept && (scalar == "\n" || scalar == "\t")
            if isKept || Self.isPrintable(scalar) {
                escaped.unicodeScalars.append(scalar)
            } else {
                escaped += Self.escape(scalar)
            }
        }
        let left = scalars.count - shown.count
        string = left > 0 ? "\(escaped)… (\(left) more characters)" : escaped
    }

    /// Whether line feeds and tabs are escaped. Other line ends are always escaped.
    public enum LineBreaks: Sendable {
        /// The text is one line: line feeds and tabs become `\n` and `\t`.
        case escaped
        /// The text has several lines: line feeds and tabs are kept.
        case kept
    }

    /// Whether a terminal draws the character in its place and does nothing else.
    public static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        // An emoji may be followed by one of the two variation selectors; all other invisible
        // characters are escaped.
        default: return !properties.isDefaultIgnorableCodePoint || scalar == "\u{FE0E}" || scalar == "\u{FE0F}"
        }
    }

    /// The default limit in Unicode scalars: about twelve lines of a terminal.
    public static let defaultMaxLength = 1024

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return #"\n"#
        case "\r": return #"\r"#
        case "\t": return #"\t"#
        default:
            guard let byte = UInt8(exactly: scalar.value) else { return "\\u{\(String(scalar.value, radix: 16))}" }
            return "\\x\(Hexadecimal.text(byte))"
        }
    }
}

// MARK: CustomStringConvertible

extension PrintableText: CustomStringConvertible {
    public var description: String { string }
}
