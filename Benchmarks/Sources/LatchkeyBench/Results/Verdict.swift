// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One aim of the project, and whether this run has met it.
struct Verdict: Codable {
    enum Outcome: String, Codable {
        case met
        case missed = "MISSED"
        case notMeasured = "not measured"
    }

    var aim: String
    /// The measured value as text.
    var found: String
    var outcome: Outcome

    fileprivate init(_ aim: String, _ figure: Figure?, atMost limit: Double) {
        self.aim = aim
        found = figure?.words ?? ""
        if let figure {
            outcome = figure.value <= limit ? .met : .missed
        } else {
            outcome = .notMeasured
        }
    }
}

/// The measured value of an aim, as a number and as text.
private struct Figure {
    let value: Double
    let words: String

    init(_ value: Double, _ words: String) {
        self.value = value
        self.words = words
    }
}

extension Results {
    /// The aims in the order of the report.
    var verdicts: [Verdict] {
        [
            Verdict("a lookup by account + service at most 2× the floor at 1 000 items", lookupRatio, atMost: 2),
            Verdict(
                "a lookup by account + service at most 1.3× its time at 1 000 items", flatness(of: .exactLookup),
                atMost: 1.3),
            Verdict("a durable add at most 2× the floor", addRatio, atMost: 2),
            Verdict("a durable add at most 1.3× its time at 1 000 items", flatness(of: .add), atMost: 1.3),
            Verdict("\(WholeProcess.findName) at most 15 ms with 100 000 items", findTime, atMost: 15e6),
            Verdict("an unlock at most 10 ms more than its scrypt", unlockOverhead, atMost: 10e6),
            Verdict("a lookup with a passcode at most 1.1× one without", lookupWithPasscode, atMost: 1.1),
            Verdict(
                "resident memory independent of the number of items, within 4 MiB", residentSpread, atMost: 4 * 1024),
        ]
    }

    private var lookupRatio: Figure? {
        self[1_000]?[.exactLookup].map { Figure($0.ratio, Text.ratio($0.ratio)) }
    }

    private var unlockOverhead: Figure? {
        passcode.map { layer in
            Figure(layer.overhead.median, "\(Text.milliseconds(layer.overhead.median)) ms")
        }
    }

    private var lookupWithPasscode: Figure? {
        passcode.map { layer in
            let ratio = layer.lookupAfter.median / layer.lookupBefore.median
            return Figure(ratio, Text.ratio(ratio))
        }
    }

    /// The worst value of all sizes.
    private var addRatio: Figure? {
        let ratios = sizes.compactMap { size in size[.add].map { (items: size.items, ratio: $0.ratio) } }
        guard let worst = ratios.max(by: { $0.ratio < $1.ratio }) else { return nil }
        return Figure(worst.ratio, "\(Text.ratio(worst.ratio)) at \(Text.grouped(worst.items)) items, the worst")
    }

    private func flatness(of call: KeychainCall) -> Figure? {
        slowdown(of: call).map {
            Figure(
                $0.latchkey,
                "\(Text.ratio($0.latchkey)) to \(Text.grouped($0.items)) items (the floor \(Text.ratio($0.floor)))")
        }
    }

    /// The value at 100 000 items, or at the largest size if that one was not measured.
    private var findTime: Figure? {
        guard let size = self[100_000] ?? sizes.last,
            let process = size.processes.first(where: { $0.name == WholeProcess.findName })
        else { return nil }
        return Figure(
            process.time.median, "\(Text.milliseconds(process.time.median)) ms with \(Text.grouped(size.items)) items")
    }

    /// The difference between the sizes with the most and the least resident memory, in KiB. The
    /// first thousands of items fill SQLite's page cache of 2 MiB for each connection.
    private var residentSpread: Figure? {
        let resident = sizes.map(\.resident.residentKiB)
        guard resident.count > 1, let least = resident.min(), let most = resident.max() else { return nil }
        return Figure(Double(most - least), "\(Text.mebibytes(least)) to \(Text.mebibytes(most)) MiB")
    }
}
