// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The whole run: both sides grow from size to size, and everything is measured at each size.
struct Benchmark {
    /// In ascending order.
    private let sizes: [Int]
    private let directory: TemporaryDirectory
    private let wholeProcess: WholeProcess
    private let keychain: EmbeddedKeychain
    private let floor: Floor
    private let rawFloor: RawFloor
    private let home: String

    /// - Parameter security: the command to measure as a whole process, if any.
    init(sizes: [Int], directory: TemporaryDirectory, security: String?) throws {
        self.sizes = sizes
        self.directory = directory
        home = "\(directory.path)/home"
        wholeProcess = WholeProcess(home: home, security: security)
        keychain = EmbeddedKeychain(home: home)
        // One item, only to read the keychain's own tables and row lengths.
        _ = try keychain.time(.add, on: Item(0), size: 0)
        let shape = try DatabaseShape(ofKeychainAt: EmbeddedKeychain.databasePath(home: home))
        _ = try keychain.time(.delete, on: Item(0), size: 1)
        floor = try Floor(path: "\(directory.path)/floor.db", shape: shape)
        rawFloor = try RawFloor(floor)
    }

    func run() throws -> Results {
        var results = Results(machine: .current(storing: directory.path))
        var held = 0
        for size in sizes {
            let (lastAdds, growth) = try DatasetGrowth(floor: floor, keychain: keychain).add(held..<size)
            held = size
            results.growth += growth
            results.sizes.append(try measure(size, lastAdds: lastAdds))
            if results.passcode == nil {
                var picker = ItemPicker()
                results.passcode = try PasscodeLayer.measure(keychain, size: size, picker: &picker)
            }
        }
        results.machine.loadAtEnd = Machine.load
        return results
    }

    private func measure(_ size: Int, lastAdds: Summary) throws -> SizeResults {
        try settle()
        let measurement = SideBySideMeasurement(
            raw: rawFloor, floor: floor, keychain: keychain, size: size,
            files: [floor.path, EmbeddedKeychain.databasePath(home: home)])
        var picker = ItemPicker()
        var comparisons: [Comparison] = []
        for call in [KeychainCall.exactLookup, .lookupByAccount, .attributes] {
            comparisons.append(try measurement.run(call, rounds: 50) { picker.items(50, below: size) })
        }
        comparisons.append(try measurement.run(.allOfService, rounds: 40) { picker.services(10, below: size) })
        let resident = try ResidentMemory.ofFreshProcess(home: home, size: size)
        let processes = try wholeProcess.measure(size: size, picker: &picker)

        // Always items that never existed before, so that the index pages of an add are as cold as
        // in practice.
        var next = size
        comparisons.append(
            try measurement.run(.add, undoneBy: .delete, rounds: 80) {
                defer { next += 10 }
                return (next..<next + 10).map { Item($0) }
            })
        comparisons.append(try measurement.run(.update, rounds: 80) { picker.distinctItems(10, below: size) })
        comparisons.append(
            try measurement.run(.delete, undoneBy: .add, rounds: 80) { picker.distinctItems(10, below: size) })
        return SizeResults(
            items: size, comparisons: comparisons, lastAdds: lastAdds, resident: resident, processes: processes)
    }

    /// Waits until the idle keychain has checkpointed its write-ahead log, and checkpoints the
    /// floor's.
    private func settle() throws {
        sleep(4)
        try floor.checkpoint()
    }
}
