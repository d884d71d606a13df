// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

extension ImportReport {
    var text: TerminalText {
        var lines: [TerminalText] = []
        if dryRun {
            lines.append("Nothing was changed. An import would do this:")
            lines += table
        }
        lines.append("source:     \(source)")
        for collection in collections {
            if let reason = collection.reason {
                lines.append("collection: \(collection.label), left out: \(reason)")
            } else {
                lines.append("collection: \(collection.label)")
            }
        }
        lines.append(dryRun ? "new:        \(new)" : "added:      \(new)")
        lines.append("equal:      \(equal)")
        lines.append(
            different > 0 ? "different:  \(different), kept as the keychain has them" : "different:  0")
        if !dryRun { lines += names(of: .different) }
        lines.append("left out:   \(leftOut)")
        lines += names(of: .leftOut)
        return lines.joined(separator: "\n") + "\n"
    }

    /// The names of the first items in a state, with the reason if there is one.
    private func names(of state: ItemState) -> [TerminalText] {
        let found = items.filter { $0.state == state }
        var lines = found.prefix(20).map { item -> TerminalText in
            let reason: TerminalText = item.reason.map { ": \($0)" } ?? ""
            return "            \(Self.cell(item.name)) (\(Self.cell(item.collection)))\(reason)"
        }
        if found.count > lines.count {
            lines.append("            and \(found.count - lines.count) more; --json shows all")
        }
        return lines
    }

    // MARK: The table

    private var table: [TerminalText] {
        guard !items.isEmpty else { return [] }
        let rows: [[TerminalText]] = [["STATE", "COLLECTION", "NAME", "LABEL"]] + items.map(Self.row)
        let widths = rows.reduce([Int](repeating: 0, count: 4)) { widths, row in
            zip(widths, row).map { max($0, $1.string.count) }
        }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + TerminalText.spaces($1 - $0.string.count + 2) }
            return cells.dropLast().joined() + (row.last ?? "")
        }
    }

    private static func row(_ item: Item) -> [TerminalText] {
        [cell(item.state.rawValue), cell(item.collection), cell(item.name), cell(item.label ?? "")]
    }

    private static func cell(_ text: String) -> TerminalText { TerminalText(text, maxLength: 48) }
}
