// SPDX-License-Identifier: Apache-2.0

/// The durations of many calls of one kind.
struct Timings {
    private var nanoseconds: [UInt64] = []

    mutating func append(_ time: UInt64) {
        nanoseconds.append(time)
    }

    /// Zeros if nothing was timed.
    var summary: Summary {
        let sorted = nanoseconds.sorted()
        guard let median = sorted.percentile(50), let high = sorted.percentile(99) else {
            return Summary(count: 0, median: 0, percentile99: 0)
        }
        return Summary(count: sorted.count, median: Double(median), percentile99: Double(high))
    }
}

/// The summary of ``Timings``, in nanoseconds.
struct Summary: Codable {
    var count: Int
    var median: Double
    var percentile99: Double
}

extension [UInt64] {
    /// The percentile of a sorted array by the nearest-rank method; nil for an empty array.
    fileprivate func percentile(_ percent: Int) -> UInt64? {
        guard !isEmpty else { return nil }
        return self[Swift.max(0, (count * percent + 99) / 100 - 1)]
    }
}
