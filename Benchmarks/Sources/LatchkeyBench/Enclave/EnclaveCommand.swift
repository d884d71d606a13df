// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Latchkey

/// Compares keys in a TPM with direct calls of tpm2-tss, and measures an unlock with the keychain's
/// root in the TPM.
struct EnclaveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enclave", abstract: "Compare keys in a TPM with direct calls of tpm2-tss.",
        discussion: """
            Starts swtpm and latchkeyd. Exits with 0 even if an aim is missed, and with 1 if an operation fails.
            """)

    @Option(help: ArgumentHelp("The executable `latchkeyd`.", valueName: "path"))
    var latchkeyd: String

    @Option(help: ArgumentHelp("The executable `latchkey`.", valueName: "path"))
    var latchkey: String

    @Option(help: "The number of rounds; each round measures every contender.")
    var rounds = 9

    @Option(help: ArgumentHelp("The directory for temporary databases; on a real disk, not tmpfs.", valueName: "dir"))
    var directory: String?

    func run() throws {
        let temporary = try TemporaryDirectory(in: directory ?? NSTemporaryDirectory())
        defer { temporary.remove() }
        let tpm = try MeasuredTPM(in: temporary.path)
        let environment = [
            "LATCHKEY_HOME": "\(temporary.path)/home", "XDG_RUNTIME_DIR": temporary.path, "LATCHKEY_TPM": tpm.address,
            "PATH": "/usr/bin:/bin",
        ]
        for (name, value) in environment { setenv(name, value, 1) }
        let daemon = try MeasuredProcess(latchkeyd, ["--user", "--log-level", "error"], environment: environment)
        while (try? LocalSocket.connect("\(temporary.path)/latchkey/socket")).map({ close($0) }) == nil { usleep(1000) }

        let keys = try measureKeys(tpm)
        let file = try UnlockTimes.measure(rounds: rounds)
        let moved = try ChildProcess.run(
            latchkey, ["latchkey", "root", "tpm"], environment: environment.map { "\($0.key)=\($0.value)" })
        guard moved.exitValue == 0 else { throw BenchmarkFailure("latchkey root tpm: exited with \(moved.exitValue)") }
        let sealed = try UnlockTimes.measure(rounds: rounds)
        withExtendedLifetime((daemon, tpm)) {}
        print(report(keys, file, sealed))
    }

    // MARK: Keys

    /// The medians of one operation, in nanoseconds.
    private struct KeyTimes {
        var plain: [Double] = []
        var protected: [Double] = []
        var latchkey: [Double] = []
    }

    private func measureKeys(_ tpm: MeasuredTPM) throws -> [EnclaveOperation: KeyTimes] {
        let key = try EnclaveKey()
        var times: [EnclaveOperation: KeyTimes] = [:]
        for round in 1...rounds {
            ProgressLine.say("keys: round \(round) of \(rounds)")
            for operation in EnclaveOperation.allCases {
                for hasSession in [false, true] {
                    let floor = try EnclaveFloor(tpm.address, hasSession: hasSession)
                    let median = try median { try floor.run(operation) }
                    if hasSession {
                        times[operation, default: KeyTimes()].protected.append(median)
                    } else {
                        times[operation, default: KeyTimes()].plain.append(median)
                    }
                }
                times[operation, default: KeyTimes()].latchkey.append(try median { try key.run(operation) })
            }
        }
        return times
    }

    private func median(_ body: () throws -> Void) throws -> Double {
        var timings = Timings()
        // The first one opens latchkeyd's connection to the TPM.
        try body()
        for _ in 0..<60 { timings.append(try Stopwatch.time(body).nanoseconds) }
        return timings.summary.median
    }

    // MARK: Report

    private func report(_ keys: [EnclaveOperation: KeyTimes], _ file: UnlockTimes, _ sealed: UnlockTimes) -> String {
        var table = TextTable(rows: [
            ["median in µs", "tpm2-tss", "in a session", "Latchkey", "ratio", "to the session"]
        ])
        var worst = 0.0
        for operation in EnclaveOperation.allCases {
            guard let times = keys[operation] else { continue }
            let ratio = ratio(times.latchkey, times.plain)
            worst = max(worst, ratio)
            table.rows.append(
                [operation.rawValue]
                    + [times.plain, times.protected, times.latchkey].map { Text.microseconds(middle($0)) }
                    + [Text.ratio(ratio), Text.ratio(self.ratio(times.latchkey, times.protected))])
        }
        let unlocks = TextTable(rows: [
            ["", "scrypt, ms", "unlock, ms", "beyond scrypt, ms", "lookup, µs"], file.row("root in a file"),
            sealed.row("root in the TPM"),
        ])
        let lookup = sealed.lookup.median / file.lookup.median
        let overhead = sealed.overhead.median
        let aims = [
            verdict(worst, 1.2, "sign and agree at most 1.2 times tpm2-tss: \(Text.ratio(worst)) at worst"),
            verdict(overhead, 20e6, "an unlock at most 20 ms more than its scrypt: \(Text.milliseconds(overhead)) ms"),
            verdict(lookup, 1.1, "a lookup costs the same with the root in the TPM: \(Text.ratio(lookup))"),
        ]
        return """
            latchkey-bench enclave: swtpm at a port, keys loaded for each operation, \(rounds) rounds

            \(table.text)

            \(unlocks.text)

            Aims
            \(aims.joined(separator: "\n"))
            """
    }

    private func verdict(_ value: Double, _ limit: Double, _ words: String) -> String {
        "  \(value <= limit ? "met   " : "MISSED")  \(words)"
    }

    private func ratio(_ one: [Double], _ other: [Double]) -> Double { middle(one) / middle(other) }

    private func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
