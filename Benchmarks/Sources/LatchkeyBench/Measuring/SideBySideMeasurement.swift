// SPDX-License-Identifier: Apache-2.0

/// Measures the floor and the keychain side by side: alternate batches on the same items, so that
/// other load of the machine affects both.
struct SideBySideMeasurement {
    let floor: any Contender
    let keychain: any Contender
    /// The number of items on both sides.
    let size: Int

    /// Times `call` on both sides.
    ///
    /// - Parameters:
    ///   - undo: runs after each batch, untimed, so that the size does not change.
    ///   - rounds: the number of counted batches; some more run before them as a warm-up.
    ///   - batch: returns the items of the next batch.
    func run(
        _ call: KeychainCall, undoneBy undo: KeychainCall? = nil, rounds: Int, batch: () -> [Item]
    ) throws -> Comparison {
        ProgressLine.say("\(Text.grouped(size)) items: \(call.title)")
        var floorTimings = Timings()
        var keychainTimings = Timings()
        for round in 0..<(Self.warmUpRounds + rounds) {
            if round == Self.warmUpRounds {
                floorTimings = Timings()
                keychainTimings = Timings()
            }
            let items = batch()
            // The order alternates, so that neither side always starts with the processor's caches
            // as the other left them.
            if round.isMultiple(of: 2) {
                try turn(of: floor, call, undo, items, into: &floorTimings)
                try turn(of: keychain, call, undo, items, into: &keychainTimings)
            } else {
                try turn(of: keychain, call, undo, items, into: &keychainTimings)
                try turn(of: floor, call, undo, items, into: &floorTimings)
            }
        }
        return Comparison(call: call, floor: floorTimings.summary, latchkey: keychainTimings.summary)
    }

    private func turn(
        of contender: any Contender, _ call: KeychainCall, _ undo: KeychainCall?, _ items: [Item],
        into timings: inout Timings
    ) throws {
        for item in items { timings.append(try contender.time(call, on: item, size: size)) }
        guard let undo else { return }
        for item in items { _ = try contender.time(undo, on: item, size: size) }
    }

    private static let warmUpRounds = 6
}
