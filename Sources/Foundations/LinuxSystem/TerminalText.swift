// SPDX-License-Identifier: Apache-2.0

/// Text that may be written to a terminal: the program's own text, with untrusted text made
/// printable.
///
/// It is created from a literal. The literal is kept as it is, with its line ends; each
/// interpolated value becomes one line of ``PrintableText``:
///
/// ```swift
/// let text: TerminalText = "certificate \(number) of \(path) cannot be read\n"
/// ```
///
/// A `String` is not a `TerminalText`, so that untrusted text cannot reach a stream in another way.
public struct TerminalText: Hashable, Sendable {
    public private(set) var string: String

    /// An empty text.
    public init() { string = "" }

    /// A text of several lines, such as a help page. Its line feeds and tabs are kept; everything
    /// else is made printable, in any length.
    ///
    /// Use it only for text with line ends from the program.
    public init(lines text: some StringProtocol) {
        string = PrintableText(text, lines: .kept, maxLength: nil).string
    }

    /// A JSON document: characters that are not printable become JSON escapes (RFC 8259, section
    /// 7), so that its meaning does not change.
    public init(json document: String) {
        let isPlain = document.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A }
        string = isPlain ? document : Self.escapedJSON(document)
    }

    /// One value on one line.
    ///
    /// - Parameter maxLength: the maximum number of Unicode scalars that are shown; nil for no
    ///   limit.
    public init(_ value: some StringProtocol, maxLength: Int?) {
        string = PrintableText(value, maxLength: maxLength).string
    }

    /// Returns `count` spaces.
    public static func spaces(_ count: Int) -> TerminalText {
        var text = TerminalText()
        text.string = String(repeating: " ", count: max(count, 0))
        return text
    }

    public static func + (first: TerminalText, second: TerminalText) -> TerminalText {
        var text = first
        text += second
        return text
    }

    public static func += (text: inout TerminalText, more: TerminalText) {
        text.string += more.string
    }

    private static func escapedJSON(_ document: String) -> String {
        var escaped = ""
        for scalar in document.unicodeScalars {
            guard scalar != "\n", !PrintableText.isPrintable(scalar) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                escaped += "\\u" + Hexadecimal.text(unit.bigEndianBytes)
            }
        }
        return escaped
    }
}

extension Sequence<TerminalText> {
    public func joined(separator: TerminalText = "") -> TerminalText {
        var text = TerminalText()
        var isFirst = true
        for part in self {
            if !isFirst { text += separator }
            text += part
            isFirst = false
        }
        return text
    }
}

// MARK: ExpressibleByStringInterpolation

extension TerminalText: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { string = text }

    public init(stringInterpolation: Interpolation) { string = stringInterpolation.string }

    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var string = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            string.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        public mutating func appendLiteral(_ literal: String) { string += literal }

        public mutating func appendInterpolation(_ text: TerminalText) { string += text.string }

        /// Appends the value as one line of ``PrintableText``.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            string += PrintableText(value.description).string
        }
    }
}

// MARK: CustomStringConvertible

extension TerminalText: CustomStringConvertible {
    public var description: String { string }
}
