// SPDX-License-Identifier: Apache-2.0

/// The constraint keys of items that one evaluation has opened, at most ``maxCount``.
struct OpenedConstraints {
    private struct Opened {
        let record: ConstraintRecord
        let key: ConstraintKey
    }

    private var keys: [[UInt8]: Opened] = [:]

    /// The key of an item.
    ///
    /// - Parameters:
    ///   - item: the UUID of the item, 16 bytes.
    ///   - record: the record from which the key was opened; another one has no key.
    subscript(item: [UInt8], record: ConstraintRecord) -> ConstraintKey? {
        get {
            guard let opened = keys[item], opened.record == record else { return nil }
            return opened.key
        }
        set {
            if keys.count >= Self.maxCount { keys.removeAll() }
            keys[item] = newValue.map { Opened(record: record, key: $0) }
        }
    }

    mutating func removeAll() { keys.removeAll() }

    /// The number of keys, for tests.
    var count: Int { keys.count }

    /// A key takes 32 bytes of secret memory.
    static let maxCount = 1_024
}
