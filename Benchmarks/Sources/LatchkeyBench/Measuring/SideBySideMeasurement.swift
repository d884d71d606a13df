// SPDX-License-Identifier: Apache-2.0

/// The floor and the keychain side by side: batches of one and of the other in turn, on the same items, so that whatever else the machine
/// does hits both.
struct SideBySideMeasurement {
    let floor: any Contender
    let keychain: any Contender
    /// How many items both hold.
    let size: Int

    /// Times `call` on both sides.
    ///
    /// - Parameters:
    ///   - undo: done after each batch, untimed, so that the size stays what it is.
    ///   - rounds: how many batches are counted; a few more come first and warm up.
    ///   - batch: the items of the next batch.
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
            // Who comes first changes, so that neither always finds the processor's caches as the other left them.
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
