// SPDX-License-Identifier: Apache-2.0

/// Values by key, in order, without duplicates: the parameters of an item or of an inner list, and the
/// members of a dictionary (RFC 9651, sections 3.1.2 and 3.2).
struct StructuredMap<Value: Hashable & Sendable>: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let key: String
        var value: Value
    }

    private(set) var all: [Entry] = []

    subscript(key: String) -> Value? { all.first { $0.key == key }?.value }

    /// Adds a value, or replaces the one with this key in its place (RFC 9651, sections 4.2.2 and 4.2.3.2).
    ///
    /// - Returns: whether the key was new.
    @discardableResult
    mutating func set(_ key: String, _ value: Value) -> Bool {
        guard let index = all.firstIndex(where: { $0.key == key }) else {
            all.append(Entry(key: key, value: value))
            return true
        }
        all[index].value = value
        return false
    }
}

typealias StructuredParameters = StructuredMap<StructuredValue>
typealias StructuredDictionary = StructuredMap<StructuredMember>
