// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The attributes of an item: names and values, each name once, sorted by the bytes of the names.
///
/// Texts are compared by their bytes: composed and decomposed characters are different.
public struct SecretAttributes: Hashable, Sendable {
    public struct Pair: Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public let pairs: [Pair]

    /// No attributes.
    public static let none = SecretAttributes(sorted: [])

    private init(sorted pairs: [Pair]) { self.pairs = pairs }

    /// - Throws: ``SecretStoreError/invalid(_:)`` for a name that occurs twice,
    ///   ``SecretStoreError/limitExceeded(_:)`` for too many or too long texts.
    public init(validating pairs: [Pair]) throws(SecretStoreError) {
        guard pairs.count <= Self.maxCount else {
            throw .limitExceeded("\(pairs.count) attributes, the maximum is \(Self.maxCount)")
        }
        let length = pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard length <= Self.maxLength else { throw .limitExceeded("\(Self.maxLength) bytes of attributes") }
        let sorted = pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (one, other) in zip(sorted, sorted.dropFirst()) where one.name.utf8.elementsEqual(other.name.utf8) {
            throw .invalid("an attribute occurs twice")
        }
        self.pairs = sorted
    }

    public var isEmpty: Bool { pairs.isEmpty }

    public subscript(name: String) -> String? {
        pairs.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Whether the item has all of these attributes.
    public func contains(_ others: SecretAttributes) -> Bool {
        others.pairs.allSatisfy { pair in self[pair.name].map { $0.utf8.elementsEqual(pair.value.utf8) } ?? false }
    }

    /// Returns the attributes with one that is added or replaced.
    public func setting(_ name: String, to value: String) throws(SecretStoreError) -> SecretAttributes {
        let others = pairs.filter { !$0.name.utf8.elementsEqual(name.utf8) }
        return try SecretAttributes(validating: others + [Pair(name, value)])
    }

    /// The attribute that libsecret uses for the name of an item's schema.
    public static let schemaName = "xdg:schema"
    /// The schema of an item without one.
    public static let genericSchema = "org.freedesktop.Secret.Generic"

    /// The name of the schema, the property `Type` of gnome-keyring.
    public var schema: String { self[Self.schemaName] ?? Self.genericSchema }

    public static let maxCount = LookupAttributes.maxCount
    /// The maximum length of all names and values, in bytes.
    public static let maxLength = 64 << 10
}

// MARK: Hashable

extension SecretAttributes.Pair: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8) && one.value.utf8.elementsEqual(other.value.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(Array(name.utf8))
        hasher.combine(Array(value.utf8))
    }
}
