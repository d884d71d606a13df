// SPDX-License-Identifier: Apache-2.0

/// What one run measured. Times are nanoseconds.
struct Results: Codable {
    var machine: Machine
    /// In ascending order.
    var sizes: [SizeResults] = []
    /// How adding one item after the other went while the keychain was filled.
    var growth: [GrowthPoint] = []
    /// At the smallest size.
    var passcode: PasscodeLayer?

    init(machine: Machine) {
        self.machine = machine
    }
}

/// What was measured while both sides held so many items.
struct SizeResults: Codable {
    var items: Int
    var comparisons: [Comparison]
    /// The last adds, at most 2 000, that brought the keychain to this size.
    var lastAdds: Summary
    var resident: ResidentMemory
    var processes: [ProcessTime]
}

/// One call on both sides.
struct Comparison: Codable {
    var call: KeychainCall
    var floor: Summary
    var latchkey: Summary

    /// Of the medians.
    var ratio: Double { latchkey.median / floor.median }
}

/// The ten thousand adds that led to so many items.
struct GrowthPoint: Codable {
    var items: Int
    var adds: Summary
}

/// A whole process.
struct ProcessTime: Codable {
    var name: String
    var time: Summary
}

// MARK: Questions to the results

extension Results {
    subscript(items: Int) -> SizeResults? {
        sizes.first { $0.items == items }
    }

    /// How much slower a call is at the greatest size than at 1 000 items; nil where one of the two was not measured.
    func slowdown(of call: KeychainCall) -> Slowdown? {
        guard let last = sizes.last, last.items > Slowdown.start, let from = self[Slowdown.start]?[call],
            let to = last[call]
        else { return nil }
        return Slowdown(
            items: last.items, floor: to.floor.median / from.floor.median,
            latchkey: to.latchkey.median / from.latchkey.median)
    }

    struct Slowdown {
        static let start = 1_000
        /// The greatest size.
        let items: Int
        let floor: Double
        let latchkey: Double
    }
}

extension SizeResults {
    subscript(call: KeychainCall) -> Comparison? {
        comparisons.first { $0.call == call }
    }
}
