// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A table with columns aligned by spaces.
struct TextTable {
    /// The first is the head.
    var rows: [[String]]

    var text: String {
        let widths = (0..<(rows.first?.count ?? 0)).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

enum Text {
    static func decimal(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }
}
