// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The results of one run, as text and as JSON.
struct FilesReport: Encodable {
    var machine: Machine
    var rows: [FilesRow] = []

    init(machine: Machine) { self.machine = machine }

    var text: String {
        var lines = [
            "latchkey-bench files: protected files, the best of several rounds in which every side is measured in turn",
            "\(machine.processor), \(machine.cores) cores, Linux \(machine.kernel), on \(machine.fileSystem), "
                + "load \(machine.loadAtStart) to \(machine.loadAtEnd)",
        ]
        if machine.isDebugBuild { lines.append("DEBUG BUILD: these figures are not meaningful.") }
        return (lines + ["", table]).joined(separator: "\n")
    }

    /// The last column is aligned on its left.
    private var table: String {
        let rows = [FilesRow.titles] + rows.map(\.cells)
        let width = rows.compactMap { $0.last?.count }.max() ?? 0
        let padded = rows.map { row -> [String] in
            guard let last = row.last else { return row }
            return Array(row.dropLast()) + [last + String(repeating: " ", count: width - last.count)]
        }
        return TextTable(rows: padded).text
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}
