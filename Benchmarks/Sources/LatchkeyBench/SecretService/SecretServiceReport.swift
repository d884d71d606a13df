// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The results of one run, as text, as Markdown for the documentation, and as JSON.
struct SecretServiceReport: Codable {
    var machine: Machine
    var sizes: [Int]
    var providers: [SecretProviderResults] = []

    init(machine: Machine, sizes: [Int]) { (self.machine, self.sizes) = (machine, sizes) }

    var text: String {
        var lines = [
            "latchkey-bench secret-service: one client on one connection, a session without encryption, a new bus and home for each",
            "\(machine.processor), \(machine.cores) cores, Linux \(machine.kernel), on \(machine.fileSystem), "
                + "load \(machine.loadAtStart) to \(machine.loadAtEnd)",
        ]
        if machine.isDebugBuild { lines.append("DEBUG BUILD of the client") }
        lines += ["", "Medians in ms (99th percentiles)", TextTable(rows: table).text, ""]
        lines += ["Resident memory in MiB", TextTable(rows: memoryTable).text, ""]
        lines += notes + ["Aims"] + aims.map { "  \($0.outcome)  \($0.aim)\($0.found.isEmpty ? "" : ": \($0.found)")" }
        lines += ["", "Markdown:", "", markdown]
        return lines.joined(separator: "\n")
    }

    /// The tables for Documentation/Performance.md.
    var markdown: String {
        func table(_ rows: [[String]]) -> [String] {
            let lines = rows.map { "| " + $0.joined(separator: " | ") + " |" }
            let rule = "|" + String(repeating: "---|", count: rows.first?.count ?? 0)
            return Array(lines.prefix(1)) + [rule] + Array(lines.dropFirst())
        }
        return (table(self.table) + [""] + table(memoryTable) + [""] + notes).joined(separator: "\n")
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }

    // MARK: Tables

    private func provider(_ kind: SecretProviderKind) -> SecretProviderResults? {
        providers.first { $0.provider == kind }
    }

    private var table: [[String]] {
        var rows = [["ms, median (99th percentile)"] + sizes.map(Text.grouped)]
        for operation in SecretOperation.allCases {
            for results in providers where results.note == nil {
                let cells = sizes.map { size -> String in
                    guard let time = results[size]?[operation] else { return "–" }
                    return "\(Text.milliseconds(time.median)) (\(Text.milliseconds(time.percentile99)))"
                }
                rows.append(["\(operation.title), \(results.provider.title)"] + cells)
            }
            if let ratios = ratios(of: operation) { rows.append(["gnome-keyring / latchkey"] + ratios) }
        }
        return rows
    }

    /// The time of gnome-keyring divided by ours, at each size; nil if one of them was not measured.
    private func ratios(of operation: SecretOperation) -> [String]? {
        guard operation != .ping, let ours = provider(.latchkey) ?? provider(.daemon),
            let other = provider(.gnomeKeyring), other.note == nil
        else { return nil }
        return sizes.map { size in
            guard let one = ours[size]?[operation], let two = other[size]?[operation] else { return "–" }
            return Text.ratio(two.median / one.median)
        }
    }

    private var memoryTable: [[String]] {
        var rows = [["MiB"] + sizes.map(Text.grouped)]
        for results in providers where results.note == nil {
            func row(_ words: String, _ value: (SecretSizeResults) -> Int?) {
                let cells = sizes.map { size in results[size].flatMap(value).map(Text.mebibytes) ?? "–" }
                rows.append(["\(words), \(results.provider.title)"] + cells)
            }
            row("after stores and lookups") { $0.memory?.residentKiB }
            row("after searches with all hits") { $0.memoryAfterAll?.residentKiB }
            row("at most") { $0.memoryAfterAll?.peakKiB }
            guard results.provider == .daemon else { continue }
            row("latchkeyd itself, after searches with all hits") { $0.memoryAfterAll?.daemonKiB }
        }
        return rows
    }

    private var notes: [String] {
        var lines: [String] = []
        for results in providers {
            if let note = results.note { lines.append("\(results.provider.title): not measured: \(note)") }
            for size in results.sizes {
                guard let note = size.note else { continue }
                lines.append("\(results.provider.title), \(Text.grouped(size.items)) items: skipped: \(note)")
            }
        }
        return lines.isEmpty ? [] : lines + [""]
    }
}

// MARK: Aims

extension SecretServiceReport {
    /// An aim, and whether this run has met it.
    private struct Aim {
        let aim: String
        var found = ""
        var outcome = "not measured"

        /// - Parameter figure: nil if it was not measured.
        init(_ aim: String, _ figure: Figure?, atMost limit: Double) {
            self.aim = aim
            guard let figure else { return }
            found = figure.words
            outcome = figure.value <= limit ? "met   " : "MISSED"
        }
    }

    /// The measured value of an aim, as a number and as text.
    private struct Figure {
        let value: Double
        let words: String
    }

    private var aims: [Aim] {
        providers.filter { $0.provider != .gnomeKeyring && $0.note == nil }.flatMap(aims)
    }

    private func aims(of results: SecretProviderResults) -> [Aim] {
        let name = results.provider.title
        return [
            Aim("\(name): store at most 1 ms", worst(.store, results), atMost: 1),
            Aim("\(name): store at most 1.3× its time at 1 000 items", growth(.store, results), atMost: 1.3),
            Aim("\(name): lookup at most 0.4 ms", worst(.lookup, results), atMost: 0.4),
            Aim("\(name): lookup at most 1.3× its time at 1 000 items", growth(.lookup, results), atMost: 1.3),
            Aim("\(name): search without a hit at most 0.3 ms", worst(.miss, results), atMost: 0.3),
            Aim("\(name): resident at most 40 MiB", largest(results), atMost: 40),
        ]
    }

    /// The largest median of all sizes, in ms.
    private func worst(_ operation: SecretOperation, _ results: SecretProviderResults) -> Figure? {
        let times = results.sizes.compactMap { size in size[operation].map { (size.items, $0.median) } }
        guard let worst = times.max(by: { $0.1 < $1.1 }) else { return nil }
        return Figure(
            value: worst.1 / 1e6,
            words: "\(Text.milliseconds(worst.1)) ms at \(Text.grouped(worst.0)) items, the worst")
    }

    private func growth(_ operation: SecretOperation, _ results: SecretProviderResults) -> Figure? {
        let measured = results.sizes.filter { $0[operation] != nil }
        guard let last = measured.last, last.items > 1_000, let start = results[1_000]?[operation],
            let end = last[operation]
        else { return nil }
        let ratio = end.median / start.median
        return Figure(value: ratio, words: "\(Text.ratio(ratio)) to \(Text.grouped(last.items)) items")
    }

    /// The largest resident memory, also after searches with all hits, in MiB.
    private func largest(_ results: SecretProviderResults) -> Figure? {
        let sizes = results.sizes.flatMap { size in
            [size.memory, size.memoryAfterAll].compactMap { $0.map { (size.items, $0.residentKiB) } }
        }
        guard let largest = sizes.max(by: { $0.1 < $1.1 }) else { return nil }
        return Figure(
            value: Double(largest.1) / 1024,
            words: "\(Text.mebibytes(largest.1)) MiB at \(Text.grouped(largest.0)) items")
    }
}
