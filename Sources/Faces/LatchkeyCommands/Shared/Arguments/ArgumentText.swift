// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import LinuxSystem

/// The words of a command line as text, the form that swift-argument-parser takes.
///
/// A byte that is not UTF-8 becomes a scalar of a private-use plane, and back: `FilePath` and
/// `CommandWord` get the bytes of the argument. Text with such a scalar is refused, because it would name
/// something else.
package enum ArgumentText {
    /// Parses a command line for the root of a tree of commands.
    ///
    /// - Throws: errors of the parser; a `ValidationError` for bytes that are not UTF-8 where text is
    ///   expected.
    package static func parse<Root: ParsableCommand>(
        _ root: Root.Type, _ words: ArraySlice<CommandWord>
    ) throws -> any ParsableCommand {
        let command = try root.parseAsRoot(words.map { text(of: $0.bytes) })
        // Only paths and words for other programs may have such bytes.
        guard let word = words.first(where: { hasEscape(text(of: $0.bytes)) }), holdsEscape(command) else {
            return command
        }
        throw ValidationError("'\(word.path)' is not UTF-8, and the command takes only text there")
    }

    /// The text for the parser.
    static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !hasEscape(text) { return text }
        var text = ""
        var rest = bytes[...]
        while let byte = rest.first {
            let count = (1...4).first { $0 <= rest.count && isScalar(rest.prefix($0)) }
            if let count {
                text += String(decoding: rest.prefix(count), as: UTF8.self)
            } else if let escape = Unicode.Scalar(firstEscape + UInt32(byte)) {
                text.unicodeScalars.append(escape)
            }
            rest = rest.dropFirst(count ?? 1)
        }
        return text
    }

    /// The bytes that ``text(of:)`` had.
    static func bytes(of text: String) -> [UInt8] {
        guard hasEscape(text) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            isEscape(scalar) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    /// The text for messages: `\xe9` for such a byte.
    package static func shown(_ text: String) -> String { FilePath(bytes: bytes(of: text)).description }

    // MARK: Escapes

    private static func isScalar(_ bytes: ArraySlice<UInt8>) -> Bool {
        // An escape in the argument itself is escaped as well, byte for byte.
        String(validating: bytes, as: UTF8.self).map { !hasEscape($0) } ?? false
    }

    private static func hasEscape(_ text: String) -> Bool { text.unicodeScalars.contains(where: isEscape) }

    private static func isEscape(_ scalar: Unicode.Scalar) -> Bool {
        firstEscape...firstEscape + 0xFF ~= scalar.value
    }

    /// Whether a value, or one that it has, is text with an escape.
    private static func holdsEscape(_ value: Any) -> Bool {
        if let text = value as? String { return hasEscape(text) }
        return Mirror(reflecting: value).children.contains { holdsEscape($0.value) }
    }

    /// Of the last private-use plane.
    private static let firstEscape: UInt32 = 0x10_FE00
}

// MARK: ExpressibleByArgument

extension FilePath: ExpressibleByArgument {
    public init?(argument: String) { self.init(bytes: ArgumentText.bytes(of: argument)) }
}

extension CommandWord: ExpressibleByArgument {
    public init?(argument: String) { self.init(bytes: ArgumentText.bytes(of: argument)) }
}
