// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Formats figures for the report.
enum Text {
    static func microseconds(_ nanoseconds: Double) -> String { String(format: "%.1f", nanoseconds / 1e3) }
    static func milliseconds(_ nanoseconds: Double) -> String { String(format: "%.2f", nanoseconds / 1e6) }
    static func mebibytes(_ kibibytes: Int) -> String { String(format: "%.1f", Double(kibibytes) / 1024) }
    static func ratio(_ ratio: Double) -> String { String(format: "%.2f×", ratio) }

    /// `1 000 000`.
    static func grouped(_ number: Int) -> String {
        var groups: [Substring] = []
        var rest = Substring(String(number))
        while rest.count > 3 {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return ([rest] + groups).joined(separator: " ")
    }
}

/// Rows of cells, the first column left-aligned and the others right-aligned.
struct TextTable {
    var rows: [[String]]

    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }
            return "  " + cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
