// SPDX-License-Identifier: Apache-2.0

/// Measures the floors and the keychain side by side: alternate batches on the same items, so that
/// other load of the machine affects all.
struct SideBySideMeasurement {
    let raw: any Contender
    let floor: any Contender
    let keychain: any Contender
    /// The number of items on both sides.
    let size: Int
    /// The databases of both sides.
    let files: [String]

    /// Times `call` on all sides.
    ///
    /// - Parameters:
    ///   - undo: runs after each batch, untimed, so that the size does not change.
    ///   - rounds: the number of counted batches; some more run before them as a warm-up.
    ///   - batch: returns the items of the next batch.
    func run(
        _ call: KeychainCall, undoneBy undo: KeychainCall? = nil, rounds: Int, batch: () -> [Item]
    ) throws -> Comparison {
        ProgressLine.say("\(Text.grouped(size)) items: \(call.title)")
        // Two of the sides share a database: the first of them would read it for the other one.
        for file in files { try PageCache.fill(with: file) }
        var sides: [(contender: any Contender, timings: Timings)] = [(floor, Timings()), (keychain, Timings())]
        if RawFloor.calls.contains(call) { sides.append((raw, Timings())) }
        for round in 0..<(Self.warmUpRounds + rounds) {
            if round == Self.warmUpRounds { for side in sides.indices { sides[side].timings = Timings() } }
            let items = batch()
            // The order rotates, so that no side always starts with the processor's caches as
            // another left them.
            for turn in sides.indices {
                let side = (turn + round) % sides.count
                try self.turn(of: sides[side].contender, call, undo, items, into: &sides[side].timings)
            }
        }
        return Comparison(
            call: call, raw: sides.count > 2 ? sides[2].timings.summary : nil, floor: sides[0].timings.summary,
            latchkey: sides[1].timings.summary)
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
