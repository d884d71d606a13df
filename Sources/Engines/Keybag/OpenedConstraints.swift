// SPDX-License-Identifier: Apache-2.0

/// The constraints of items that one evaluation has opened, with the keys that they yielded; at most
/// ``maxCount``.
struct OpenedConstraints {
    struct Opened {
        let constraint: EncodedConstraint
        let key: ConstraintKey
    }

    private var opened: [[UInt8]: Opened] = [:]

    /// The opened constraint of an item, with its key.
    ///
    /// - Parameters:
    ///   - item: the UUID of the item, 16 bytes.
    ///   - encoded: the constraint; if another one was opened, there is nothing for this one.
    subscript(item: [UInt8], encoded: [UInt8]) -> Opened? {
        guard let found = opened[item], found.constraint.encoded == encoded else { return nil }
        return found
    }

    mutating func insert(_ constraint: EncodedConstraint, _ key: ConstraintKey, of item: [UInt8]) {
        if opened.count >= Self.maxCount { opened.removeAll() }
        opened[item] = Opened(constraint: constraint, key: key)
    }

    mutating func removeAll() { opened.removeAll() }

    /// The number of items, for tests.
    var count: Int { opened.count }

    /// A key takes 32 bytes of secret memory, and a program can have many contexts.
    static let maxCount = 256
}
