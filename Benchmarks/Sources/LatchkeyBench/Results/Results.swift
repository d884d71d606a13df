// SPDX-License-Identifier: Apache-2.0

/// The measurements of one run. Times are in nanoseconds.
struct Results: Codable {
    var machine: Machine
    /// In ascending order.
    var sizes: [SizeResults] = []
    /// The timings of the sequential adds that filled the keychain.
    var growth: [GrowthPoint] = []
    /// At the smallest size.
    var passcode: PasscodeLayer?

    init(machine: Machine) {
        self.machine = machine
    }
}

/// The measurements at one size of both sides.
struct SizeResults: Codable {
    var items: Int
    var comparisons: [Comparison]
    /// The last adds, at most 2 000, before the keychain had this size.
    var lastAdds: Summary
    var resident: ResidentMemory
    var processes: [ProcessTime]
}

/// One call on all sides.
struct Comparison: Codable {
    var call: KeychainCall
    /// nil if the raw floor does not have the call.
    var raw: Summary?
    var floor: Summary
    var latchkey: Summary

    /// The ratio of the medians.
    var ratio: Double { latchkey.median / floor.median }
}

/// The last ten thousand adds before this number of items.
struct GrowthPoint: Codable {
    var items: Int
    var adds: Summary
}

/// A whole process.
struct ProcessTime: Codable {
    var name: String
    var time: Summary
}

// MARK: Derived values

extension Results {
    subscript(items: Int) -> SizeResults? {
        sizes.first { $0.items == items }
    }

    /// The ratio of a call's time at the largest size to that at 1 000 items; nil if one of the two
    /// was not measured.
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
        /// The largest size.
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
