// SPDX-License-Identifier: Apache-2.0

/// The content type that a client of the Secret Service states for the data of an item, such as `text/plain`. The text
/// is kept unchanged.
public struct ContentType: Hashable, Sendable {
    public let text: String

    /// The maximum length in bytes.
    public static let maxLength = 256

    /// Returns nil for a text that is empty, too long, or has control characters.
    public init?(_ text: String) {
        guard (1...Self.maxLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        self.text = text
    }

    public static func == (one: ContentType, other: ContentType) -> Bool { one.text.hasSameBytes(as: other.text) }

    public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}
