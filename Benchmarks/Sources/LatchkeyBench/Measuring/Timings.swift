// SPDX-License-Identifier: Apache-2.0

/// How long many calls of one kind took, each by itself.
struct Timings {
    private var nanoseconds: [UInt64] = []

    mutating func append(_ time: UInt64) {
        nanoseconds.append(time)
    }

    /// Zeros where nothing was timed.
    var summary: Summary {
        let sorted = nanoseconds.sorted()
        guard let median = sorted.percentile(50), let high = sorted.percentile(99) else {
            return Summary(count: 0, median: 0, percentile99: 0)
        }
        return Summary(count: sorted.count, median: Double(median), percentile99: Double(high))
    }
}

/// What remains of ``Timings``, in nanoseconds.
struct Summary: Codable {
    var count: Int
    var median: Double
    var percentile99: Double
}

extension [UInt64] {
    /// By the nearest rank, of a sorted array; nil of an empty one.
    fileprivate func percentile(_ percent: Int) -> UInt64? {
        guard !isEmpty else { return nil }
        return self[Swift.max(0, (count * percent + 99) / 100 - 1)]
    }
}
