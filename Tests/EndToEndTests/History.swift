// SPDX-License-Identifier: Apache-2.0

/// One call of one process on one item, as the worker prints it.
struct Call {
    let operation: String
    let item: String
    let value: String
    let start: UInt64
    let end: UInt64
    let status: Int32

    init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 6, let start = UInt64(words[3]), let end = UInt64(words[4]), let status = Int32(words[5])
        else {
            return nil
        }
        (operation, item, value) = (String(words[0]), String(words[1]), String(words[2]))
        (self.start, self.end, self.status) = (start, end, status)
    }

    /// The value after the call; nil means "no item". Only for acknowledged writes.
    var outcome: String? { operation == "delete" ? nil : value }
    var isWrite: Bool { operation != "read" && status == 0 }

    /// Whether the call returned one of its documented statuses.
    var isDocumented: Bool {
        let documented: [String: Set<Int32>] = [
            "add": [0, -25299], "update": [0, -25300], "delete": [0, -25300], "read": [0, -25300],
        ]
        return documented[operation]?.contains(status) == true
    }
}

/// The acknowledged writes of one item; they determine the values that a read may return.
struct History {
    private struct Write {
        let value: String?
        let start: UInt64
        let end: UInt64
    }

    /// Sorted by start.
    private let writes: [Write]
    /// The writes by resulting value, sorted by start.
    private let byValue: [String?: [Write]]
    /// For each write, the earliest end among it and all later starts.
    private let earliestEnd: [UInt64]

    /// - Parameter first: the value before the calls; nil if there is no item.
    init(_ calls: [Call], first: String? = nil) {
        let writes =
            [Write(value: first, start: 0, end: 0)]
            + calls.filter(\.isWrite).map { Write(value: $0.outcome, start: $0.start, end: $0.end) }.sorted {
                $0.start < $1.start
            }
        var earliest = UInt64.max
        earliestEnd = writes.reversed().map { write in
            earliest = min(earliest, write.end)
            return earliest
        }.reversed()
        byValue = Dictionary(grouping: writes, by: \.value)
        self.writes = writes
    }

    /// Whether the item can have `value` at some time between `start` and `end`: a write of that
    /// value began before `end`, and no other write began after that write and ended before
    /// `start`.
    func explains(_ value: String?, from start: UInt64, to end: UInt64) -> Bool {
        // The latest writes first, because they are the likeliest.
        (byValue[value] ?? []).reversed().contains { $0.start < end && !isOverwritten($0, before: start) }
    }

    private func isOverwritten(_ write: Write, before time: UInt64) -> Bool {
        var low = 0
        var high = writes.count
        while low < high {
            let middle = (low + high) / 2
            if writes[middle].start > write.end { high = middle } else { low = middle + 1 }
        }
        return low < writes.count && earliestEnd[low] < time
    }
}
