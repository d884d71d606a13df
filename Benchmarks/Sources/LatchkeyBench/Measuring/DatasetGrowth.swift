// SPDX-License-Identifier: Apache-2.0

/// Fills both sides to the next size: the floor in large transactions, the keychain with one
/// durable add after the other, as programs do.
struct DatasetGrowth {
    let floor: Floor
    let keychain: EmbeddedKeychain

    /// Adds these items to both sides.
    ///
    /// - Returns: the timings of the last adds to the keychain, and those at intermediate sizes.
    func add(_ numbers: Range<Int>) throws -> (lastAdds: Summary, growth: [GrowthPoint]) {
        try floor.fill(numbers)
        var last = Timings()
        var window = Timings()
        var growth: [GrowthPoint] = []
        for number in numbers {
            let time = try keychain.time(.add, on: Item(number), size: number)
            window.append(time)
            if numbers.upperBound - number <= Self.lastCount { last.append(time) }
            guard (number + 1).isMultiple(of: Self.windowLength) else { continue }
            let point = GrowthPoint(items: number + 1, adds: window.summary)
            growth.append(point)
            window = Timings()
            let progress = "\(Text.grouped(point.items)) of \(Text.grouped(numbers.upperBound)) items"
            ProgressLine.say("filling: \(progress), an add takes \(Text.microseconds(point.adds.median)) µs")
        }
        return (last.summary, growth)
    }

    private static let lastCount = 2_000
    private static let windowLength = 10_000
}
