// SPDX-License-Identifier: Apache-2.0

/// The name of a collection of the Secret Service. The name never changes, but the label does. Compared by its bytes.
///
/// A collection is an access group, and its items have one place among desktop programs: see ``accessGroup``.
public struct CollectionName: Sendable {
    /// 1 to ``maxLength`` bytes of UTF-8.
    public let text: String

    /// Returns nil for an empty or a longer text.
    public init?(_ text: String) {
        guard (1...Self.maxLength).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    /// The collection that every user has; some clients have its path built in.
    public static let login = CollectionName(known: "login")
    /// The collection in memory.
    public static let session = CollectionName(known: "session")

    public static let maxLength = 128

    /// The name of a new collection: the label, shortened, with a number if others have it.
    public static func unused(for label: String, isUsed: (CollectionName) -> Bool) -> CollectionName? {
        // The names of programs' collections are theirs.
        let isTaken = CollectionName(label)?.isOfProgram ?? label.hasPrefix("program.")
        let base = shortened(isTaken ? "collection \(label)" : label)
        for number in 1...maxNumber {
            guard let name = CollectionName(number == 1 ? base : "\(base) \(number)") else { continue }
            if !isUsed(name) { return name }
        }
        return nil
    }

    private static func shortened(_ label: String) -> String {
        var text = ""
        for character in label where text.utf8.count + String(character).utf8.count <= maxLength - 8 {
            text.append(character)
        }
        return text.isEmpty ? "collection" : text
    }

    private static let maxNumber = 9999
}

// MARK: Hashable

extension CollectionName: Hashable {
    public static func == (one: CollectionName, other: CollectionName) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

// MARK: CustomStringConvertible

extension CollectionName: CustomStringConvertible {
    public var description: String { text }
}
