// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The target of a figure.
struct FilesTarget {
    let words: String
    let isMet: (_ latchkey: Double, _ other: Double) -> Bool

    static func ratio(_ least: Double) -> FilesTarget {
        FilesTarget(words: "at least \(Text.ratio(least))") { $0 >= least * $1 }
    }

    static func rate(_ least: Double) -> FilesTarget {
        FilesTarget(words: "at least \(Text.grouped(Int(least)))") { latchkey, _ in latchkey >= least }
    }

    static func growth(_ most: Double) -> FilesTarget {
        FilesTarget(words: "at most \(Int(most)) more") { $0 - $1 <= most }
    }
}

/// One line of the table: Latchkey and the other side.
struct FilesRow: Encodable {
    let what: String
    let unit: String
    let latchkey: Double?
    let comparedWith: String
    let other: Double?
    let target: String?
    /// nil without a target, if both sides were measured.
    let outcome: Verdict.Outcome?
    /// Why it was not measured.
    let reason: String?

    init(
        _ what: String, _ unit: String, _ latchkey: FileFigure, _ comparedWith: String, _ other: FileFigure,
        _ target: FilesTarget? = nil
    ) {
        (self.what, self.unit, self.comparedWith, self.target) = (what, unit, comparedWith, target?.words)
        switch (latchkey, other) {
        case (.success(let one), .success(let two)):
            (self.latchkey, self.other, reason) = (one, two, nil)
            outcome = target.map { $0.isMet(one, two) ? .met : .missed }
        case (.failure(let missing), _):
            (self.latchkey, self.other, reason) = (nil, try? other.get(), missing.reason)
            outcome = .notMeasured
        case (.success(let one), .failure(let missing)):
            (self.latchkey, self.other, reason) = (one, nil, missing.reason)
            outcome = .notMeasured
        }
    }

    static let titles = ["", "unit", "Latchkey", "compared with", "", "ratio", "target", ""]

    /// The cells of the table.
    var cells: [String] {
        let ratio = latchkey.flatMap { latchkey in other.map { Text.ratio(latchkey / $0) } }
        return [
            what, unit, latchkey.map(Self.text) ?? "-", comparedWith, other.map(Self.text) ?? "-", ratio ?? "-",
            target ?? "", verdict,
        ]
    }

    private var verdict: String {
        guard let outcome else { return "" }
        return reason.map { "\(outcome.rawValue): \($0)" } ?? outcome.rawValue
    }

    private static func text(_ value: Double) -> String {
        value < 100 ? String(format: "%.1f", value) : Text.grouped(Int(value))
    }
}
