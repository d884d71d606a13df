// SPDX-License-Identifier: Apache-2.0

/// The lookup attributes of a password item: names with values. Clients of the Secret Service find the item by any
/// subset of them. Documentation/Formats/keychain-database.md, "Lookup attributes", has the limits and the encoding.
///
/// Names and values are compared by their bytes. Neither is a secret, but both are sealed.
///
/// ```swift
/// let attributes = try LookupAttributes([("service", "example.com"), ("username", "alice")])
/// attributes["username"]  // "alice"
/// ```
public struct LookupAttributes: Hashable, Sendable {
    /// In the order of the names' bytes, each name once.
    public let entries: [LookupEntry]

    /// No attributes: as a condition, they match every item.
    public static let empty = LookupAttributes(unchecked: [])

    /// The maximum number of names.
    public static let maxCount = 64
    /// The maximum length of a name, in bytes.
    public static let maxNameLength = 256
    /// The maximum length of a value, in bytes.
    public static let maxValueLength = 16 << 10
    /// The maximum length of the encoding, in bytes.
    public static let maxLength = 64 << 10

    /// Creates a map from names and values in any order.
    ///
    /// - Throws: errSecParam for a name that is empty or given twice, and for a NUL character, because D-Bus cannot
    ///   transport it; errSecDataTooLarge if a limit is exceeded.
    public init(_ pairs: [(name: String, value: String)]) throws(KeychainError) {
        guard pairs.count <= Self.maxCount else {
            throw .tooLarge("\(pairs.count) lookup attributes, the maximum is \(Self.maxCount)")
        }
        var entries: [LookupEntry] = []
        for (name, value) in pairs {
            try Self.check(name, value)
            entries.append(LookupEntry(name, value))
        }
        entries.sort { $0.precedes($1) }
        for (entry, next) in zip(entries, entries.dropFirst()) where !entry.precedes(next) {
            throw .parameter("a lookup attribute is given twice")
        }
        self.entries = entries
        let length = encodedLength
        guard length <= Self.maxLength else {
            throw .tooLarge("the lookup attributes have \(length) bytes, the maximum is \(Self.maxLength)")
        }
    }

    /// - Parameter entries: valid, and in order.
    init(unchecked entries: [LookupEntry]) { self.entries = entries }

    /// The value of a name; nil if it is not one of the names.
    public subscript(name: String) -> String? {
        entries.first { $0.name.hasSameBytes(as: name) }?.value
    }

    public var isEmpty: Bool { entries.isEmpty }

    /// Whether every entry of `condition` is an entry of these attributes.
    public func contain(_ condition: LookupAttributes) -> Bool {
        condition.entries.allSatisfy { entries.contains($0) }
    }

    /// Whether a value may be in a map.
    static func isValid(value: String) -> Bool {
        value.utf8.count <= maxValueLength && !value.utf8.contains(0)
    }

    static func isValid(name: String) -> Bool {
        (1...maxNameLength).contains(name.utf8.count) && !name.utf8.contains(0)
    }

    private static func check(_ name: String, _ value: String) throws(KeychainError) {
        guard !name.isEmpty else { throw .parameter("the name of a lookup attribute is empty") }
        guard !name.utf8.contains(0), !value.utf8.contains(0) else {
            throw .parameter("a lookup attribute has a NUL character")
        }
        guard name.utf8.count <= maxNameLength else {
            throw .tooLarge(
                "the name of a lookup attribute has \(name.utf8.count) bytes, the maximum is \(maxNameLength)")
        }
        guard value.utf8.count <= maxValueLength else {
            throw .tooLarge(
                "the value of a lookup attribute has \(value.utf8.count) bytes, the maximum is \(maxValueLength)")
        }
    }
}

/// One name with its value.
public struct LookupEntry: Sendable {
    public let name: String
    public let value: String

    init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

    /// Whether the bytes of the name are before those of another name.
    func precedes(_ other: LookupEntry) -> Bool { name.utf8.lexicographicallyPrecedes(other.name.utf8) }
}

// MARK: Hashable

extension LookupEntry: Hashable {
    /// Compares the bytes: composed and decomposed text are different values.
    public static func == (one: LookupEntry, other: LookupEntry) -> Bool {
        one.name.hasSameBytes(as: other.name) && one.value.hasSameBytes(as: other.value)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(Array(name.utf8))
        hasher.combine(Array(value.utf8))
    }
}

extension KeychainError {
    fileprivate static func tooLarge(_ problem: String) -> KeychainError { KeychainError(.dataTooLarge, problem) }
}
