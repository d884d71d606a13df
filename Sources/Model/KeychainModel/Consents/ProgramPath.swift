// SPDX-License-Identifier: Apache-2.0

/// The absolute path of a program's executable. Compared by its bytes.
///
/// It is how a person recognizes a program, and no proof: an interpreter has one path for all its
/// scripts.
public struct ProgramPath: Sendable {
    /// 2 to ``maxLength`` bytes of UTF-8. The first byte is a slash.
    public let text: String

    /// Returns nil for another text.
    public init?(_ text: String) {
        guard (2...Self.maxLength).contains(text.utf8.count), text.utf8.first == UInt8(ascii: "/") else { return nil }
        self.text = text
    }

    public static let maxLength = 1024
}

// MARK: Hashable

extension ProgramPath: Hashable {
    public static func == (one: ProgramPath, other: ProgramPath) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

// MARK: CustomStringConvertible

extension ProgramPath: CustomStringConvertible {
    public var description: String { text }
}
