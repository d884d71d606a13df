// SPDX-License-Identifier: Apache-2.0

/// The page of a sorted list: only as many values are kept as the page and those before it have.
struct SortedPage<Key: Comparable, Value> {
    private struct Entry {
        let key: Key
        /// Equal keys are in the order of their addition.
        let number: Int
        let value: Value
    }

    /// How many values were added.
    private(set) var count = 0
    private let first: Int
    private let end: Int
    private var kept: [Entry] = []
    /// The key that ends the page: values with later keys are not on it; nil while the key is not known.
    private var last: Key?

    /// - Parameters:
    ///   - offset: how many values are before the page.
    ///   - limit: how many are on it; nil for all.
    init(offset: Int, limit: Int?) {
        first = offset
        let (sum, isTooLarge) = offset.addingReportingOverflow(limit ?? .max)
        end = isTooLarge ? .max : sum
    }

    mutating func add(_ key: Key, _ value: @autoclosure () -> Value) {
        count += 1
        if let last, last <= key { return }
        kept.append(Entry(key: key, number: count, value: value()))
        // Sorting so seldom costs little more for each value than a comparison.
        guard kept.count - Self.spareCount >= end, kept.count / 2 >= end else { return }
        sort()
        kept.removeLast(kept.count - end)
        last = kept.last?.key
    }

    /// Returns the page in its order.
    mutating func values() -> [(key: Key, value: Value)] {
        sort()
        return kept.prefix(end).dropFirst(first).map { ($0.key, $0.value) }
    }

    private mutating func sort() {
        kept.sort { $0.key == $1.key ? $0.number < $1.number : $0.key < $1.key }
    }

    private static var spareCount: Int { 1000 }
}
