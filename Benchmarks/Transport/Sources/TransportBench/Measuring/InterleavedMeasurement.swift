// SPDX-License-Identifier: Apache-2.0

/// The times of several contenders that alternate, so that other load of the machine affects all.
struct InterleavedMeasurement {
    /// Of one contender in one round, in seconds.
    struct Sample {
        let elapsed: Double
        let processor: Double
    }

    let contenders: [String]
    /// For each contender, one for each round.
    private(set) var samples: [[Sample]]

    /// Runs every contender in every round, after one round that is not counted.
    static func run(
        rounds: Int, contenders: [String], _ work: (Int) async throws -> Void
    ) async throws -> InterleavedMeasurement {
        var measurement = InterleavedMeasurement(
            contenders: contenders, samples: contenders.map { _ in [] })
        for round in 0...rounds {
            for index in contenders.indices {
                // Every contender comes first, second … equally often.
                let index = (index + round) % contenders.count
                let (processor, start) = (ProcessUsage.processorTime, ContinuousClock.now)
                try await work(index)
                let sample = Sample(
                    elapsed: (ContinuousClock.now - start) / .seconds(1),
                    processor: ProcessUsage.processorTime - processor)
                if round > 0 { measurement.samples[index].append(sample) }
            }
        }
        return measurement
    }

    /// The median of the ratios to the first contender in the same round.
    func ratio(_ contender: Int, _ value: KeyPath<Sample, Double>) -> Double {
        zip(samples[contender], samples[0]).map { $0[keyPath: value] / $1[keyPath: value] }.median
    }

    /// One row for each contender.
    ///
    /// - Parameter count: the number of operations in a round; their times are in microseconds.
    func table(perRound count: Int, unit: String) -> TextTable {
        var table = TextTable(rows: [["\(unit), medians", "elapsed", "ratio", "processor", "ratio"]])
        for index in contenders.indices {
            let scale = 1e6 / Double(count)
            table.rows.append([
                contenders[index], Text.decimal(samples[index].map(\.elapsed).median * scale, 1),
                Text.decimal(ratio(index, \.elapsed), 2),
                Text.decimal(samples[index].map(\.processor).median * scale, 1),
                Text.decimal(ratio(index, \.processor), 2),
            ])
        }
        return table
    }
}

extension [Double] {
    /// NaN if there are none.
    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
