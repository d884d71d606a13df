// SPDX-License-Identifier: Apache-2.0

/// The name of one of a user's keychains: ``login`` for the one that every user has, or that of a
/// keychain that the user has created. A keychain outside of `~/Library/Keychains` has its path as
/// the name.
public struct KeychainName: Hashable, Sendable {
    /// UTF-8 without control characters and U+FFFD. It does not end with white space.
    ///
    /// A path is absolute, has no `.`, `..` or empty component, and at most ``maxPathLength`` bytes. Any
    /// other name has no slash and at most ``maxLength`` bytes. It does not begin with a dot, a hyphen or
    /// white space, and does not end like the name of a file.
    public let text: String

    /// The keychain that every user has: `login.keychain` on macOS.
    public static let login = KeychainName(known: "login")

    public static let maxLength = 100
    /// That of a path on macOS.
    public static let maxPathLength = 1023

    private init(known text: String) { self.text = text }

    /// Reads a path, or a name as macOS's scripts write it: `build`, `build.keychain` and
    /// `build.keychain-db` are the same.
    ///
    /// - Returns: nil for text that is neither.
    public init?(_ text: String) {
        // U+FFFD stands for bytes that are not UTF-8, so that it could be any of several names.
        guard text.unicodeScalars.last?.properties.isWhitespace == false,
            text.unicodeScalars.allSatisfy({ $0 != "\u{FFFD}" && !Self.isControl($0) })
        else { return nil }
        if text.utf8.first == UInt8(ascii: "/") {
            let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            guard text.utf8.count <= Self.maxPathLength,
                !parts.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
            else { return nil }
            self.text = text
            return
        }
        var rest = text[...]
        for suffix in Self.suffixes where rest.hasSuffix(suffix) { rest.removeLast(suffix.count) }
        let scalars = rest.unicodeScalars
        guard !rest.isEmpty, rest.utf8.count <= Self.maxLength, let first = scalars.first, first != ".", first != "-",
            !first.properties.isWhitespace, scalars.last?.properties.isWhitespace == false,
            !rest.utf8.contains(UInt8(ascii: "/")), !Self.suffixes.contains(where: rest.hasSuffix)
        else { return nil }
        self.text = String(rest)
    }

    /// Whether it is the path of a keychain outside of `~/Library/Keychains`.
    public var isPath: Bool { text.utf8.first == UInt8(ascii: "/") }

    /// The name of the file on macOS, as scripts use it: `build.keychain-db`; or the path.
    public var fileName: String { isPath ? text : text + ".keychain-db" }

    private static let suffixes = [".keychain-db", ".keychain"]

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}

// MARK: Equatable, Hashable

/// Names are compared by their bytes, as the directories of their keychains are: `String` takes a letter
/// with an accent, and the letter and the accent, for the same.
extension KeychainName {
    public static func == (one: KeychainName, other: KeychainName) -> Bool {
        one.text.hasSameBytes(as: other.text)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

// MARK: CustomStringConvertible

extension KeychainName: CustomStringConvertible {
    public var description: String { text }
}
