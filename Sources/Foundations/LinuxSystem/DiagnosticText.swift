// SPDX-License-Identifier: Apache-2.0

/// Text that may be sent to others: of a report, or of the debug log. It has literals of this program,
/// numbers and flags, and nothing that came from a caller, a file or the environment.
///
/// The types ensure it: a `String` cannot be interpolated. A name, a path or a secret needs a word of its own, and only
/// its kind is written:
///
/// ```swift
/// let text: DiagnosticText = "\(count) items of \(redacted: path)"    // 3 items of <redacted String>
/// ```
///
/// Modules add interpolations for their own closed types: a status, a class, a mode.
public struct DiagnosticText: Hashable, Sendable {
    public private(set) var string: String

    /// The number of a version, as far as it has digits and dots: of `6.1.0-name` it is `6.1.0`.
    ///
    /// - Returns: nil if the text begins with no digit.
    public init?(version text: some StringProtocol) {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }.prefix(24)
        guard let first = digits.first, first != UInt8(ascii: ".") else { return nil }
        string = String(decoding: digits, as: UTF8.self)
    }

    /// The one of these words that the text is; nil if it is none of them.
    public init?(_ text: some StringProtocol, of words: [DiagnosticText]) {
        guard let word = words.first(where: { $0.string == text }) else { return nil }
        self = word
    }

    /// A word of a closed set that another type defines, such as the name of a status.
    ///
    /// The caller vouches that no caller, file or environment chooses the text. ArchitectureTests lists the
    /// files that may call this.
    public init(unchecked word: String) { string = word }

    public static func + (first: DiagnosticText, second: DiagnosticText) -> DiagnosticText {
        var text = first
        text.string += second.string
        return text
    }
}

extension Sequence<DiagnosticText> {
    public func joined(separator: DiagnosticText = "") -> DiagnosticText {
        var text: DiagnosticText = ""
        var isFirst = true
        for part in self {
            text = isFirst ? part : text + separator + part
            isFirst = false
        }
        return text
    }
}

// MARK: ExpressibleByStringInterpolation

extension DiagnosticText: ExpressibleByStringInterpolation {
    /// Only the compiler calls this, with a literal.
    public init(stringLiteral text: String) { string = text }

    public init(stringInterpolation: Interpolation) { string = stringInterpolation.string }

    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var string = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            string.reserveCapacity(literalCapacity)
        }

        public mutating func appendLiteral(_ literal: String) { string += literal }

        public mutating func appendInterpolation(_ text: DiagnosticText) { string += text.string }

        public mutating func appendInterpolation(_ number: some BinaryInteger) { string += String(number) }

        public mutating func appendInterpolation(_ flag: Bool) { string += flag ? "yes" : "no" }

        /// Appends the name of a type, a word of the sources.
        public mutating func appendInterpolation(type: Any.Type) { string += "\(type)" }

        /// Appends only the kind of a value.
        public mutating func appendInterpolation<Value>(redacted value: Value) {
            string += "<redacted \(Value.self)>"
        }
    }
}

// MARK: CustomStringConvertible, Encodable

extension DiagnosticText: CustomStringConvertible {
    public var description: String { string }
}

extension DiagnosticText: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}
