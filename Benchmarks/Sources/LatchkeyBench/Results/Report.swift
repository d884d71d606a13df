// SPDX-License-Identifier: Apache-2.0

/// The results as text for readers.
struct Report {
    let results: Results

    var text: String {
        let sections = [
            header,
            "Medians in µs", comparisons { $0.median },
            "99th percentiles in µs", comparisons { $0.percentile99 },
            "The raw floor, medians in µs, and Latchkey divided by it", rawFloor,
            "Sequential adds, µs: the last adds before each size", lastAdds,
            "Medians at the largest size divided by those at 1 000 items", flatness,
            "Whole processes, medians in ms", processes,
            "Resident memory of a fresh process after 100 lookups, MiB", resident,
            "A passcode, at the smallest size", passcode,
            "Aims", aims,
        ]
        return sections.joined(separator: "\n\n")
    }

    private var header: String {
        let machine = results.machine
        var lines = [
            "latchkey-bench: Latchkey in process, and the floor: the same reads, opens and durable writes by sqlite3's C API and swift-crypto",
            "\(machine.processor), \(machine.cores) cores, Linux \(machine.kernel), SQLite \(machine.sqlite), on \(machine.fileSystem), "
                + "load \(machine.loadAtStart) to \(machine.loadAtEnd)",
        ]
        if machine.isDebugBuild {
            lines.append("DEBUG BUILD: these figures are not meaningful. Use swift run -c release.")
        }
        return lines.joined(separator: "\n")
    }

    private func comparisons(_ figure: (Summary) -> Double) -> String {
        var table = TextTable(rows: [["items"], ["operation"]])
        for size in results.sizes {
            table.rows[0] += ["", Text.grouped(size.items), ""]
            table.rows[1] += ["floor", "latchkey", "ratio"]
        }
        for call in KeychainCall.allCases {
            let cells = results.sizes.flatMap { size -> [String] in
                guard let comparison = size[call] else { return ["", "", ""] }
                let (floor, latchkey) = (figure(comparison.floor), figure(comparison.latchkey))
                return [Text.microseconds(floor), Text.microseconds(latchkey), Text.ratio(latchkey / floor)]
            }
            table.rows.append([call.title] + cells)
        }
        return table.text
    }

    private var rawFloor: String {
        var table = TextTable(rows: [["operation"] + results.sizes.flatMap { [Text.grouped($0.items), "ratio"] }])
        for call in RawFloor.calls {
            let cells = results.sizes.flatMap { size -> [String] in
                guard let comparison = size[call], let raw = comparison.raw else { return ["", ""] }
                return [Text.microseconds(raw.median), Text.ratio(comparison.latchkey.median / raw.median)]
            }
            table.rows.append([call.title] + cells)
        }
        return table.text
    }

    private var lastAdds: String {
        var table = TextTable(rows: [["items", "adds", "median", "99th"]])
        for size in results.sizes {
            let adds = size.lastAdds
            table.rows.append(
                [
                    Text.grouped(size.items), "\(adds.count)", Text.microseconds(adds.median),
                    Text.microseconds(adds.percentile99),
                ])
        }
        return table.text
    }

    private var flatness: String {
        var table = TextTable(rows: [["operation", "floor", "latchkey"]])
        for call in KeychainCall.allCases {
            guard let slowdown = results.slowdown(of: call) else {
                return "  not measured: needs 1 000 items and a larger size"
            }
            table.rows.append([call.title, Text.ratio(slowdown.floor), Text.ratio(slowdown.latchkey)])
        }
        return table.text
    }

    private var processes: String {
        var table = TextTable(rows: [["items"] + results.sizes.map { Text.grouped($0.items) }])
        for (index, process) in (results.sizes.first?.processes ?? []).enumerated() {
            table.rows.append([process.name] + results.sizes.map { Text.milliseconds($0.processes[index].time.median) })
        }
        return table.text
    }

    private var resident: String {
        let sizes = results.sizes
        return TextTable(rows: [
            ["items"] + sizes.map { Text.grouped($0.items) },
            ["resident"] + sizes.map { Text.mebibytes($0.resident.residentKiB) },
            ["at most"] + sizes.map { Text.mebibytes($0.resident.peakKiB) },
            ["proportional (PSS)"] + sizes.map { Text.mebibytes($0.resident.proportionalKiB) },
            ["private and dirty"] + sizes.map { Text.mebibytes($0.resident.privateDirtyKiB) },
        ]).text
    }

    private var passcode: String {
        guard let layer = results.passcode else { return "  not measured" }
        return TextTable(rows: [
            ["", "without", "with"],
            [
                "scrypt alone / a whole unlock, ms", Text.milliseconds(layer.derivation.median),
                Text.milliseconds(layer.unlock.median),
            ],
            [
                "lookup by account + service, µs", Text.microseconds(layer.lookupBefore.median),
                Text.microseconds(layer.lookupAfter.median),
            ],
        ]).text
    }

    private var aims: String {
        results.verdicts.map { verdict in
            let found = verdict.found.isEmpty ? "" : ": \(verdict.found)"
            return "  \(verdict.outcome.rawValue)  \(verdict.aim)\(found)"
        }.joined(separator: "\n")
    }
}
