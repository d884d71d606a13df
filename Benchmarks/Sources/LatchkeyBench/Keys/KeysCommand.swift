// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Compares key operations with direct calls of libcrypto, alternately in one process.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Compare key operations with direct calls of libcrypto.",
        discussion: """
            With --stored, the keys are stored and used in the keychain that the environment names, embedded or through
            latchkeyd. Exits with 0 even if an aim is missed, and with 1 if an operation fails.
            """)

    @Flag(help: "Store the keys in the keychain, and use them there.")
    var stored = false

    @Option(help: "The number of rounds; each round measures every contender.")
    var rounds = 9

    func run() throws {
        let message = [UInt8](repeating: 0x5A, count: 32)
        let data = NSData(bytes: message, length: message.count)
        var table = TextTable(rows: [["median in µs", "libcrypto", "Latchkey", "ratio", "beyond"]])
        var worst = 0.0
        for kind in KeyBenchKind.all {
            ProgressLine.say(kind.name)
            let floors = (try KeyFloor(kind), try KeyFloor(kind))
            let contenders = (
                try KeyContender(kind, tag: stored ? "bench \(kind.name)" : nil), try KeyContender(kind)
            )
            defer { if stored { contenders.0.delete() } }
            for operation in kind.operations where !(stored && operation == .generate) {
                let calls = Self.calls(kind, operation)
                var (floor, contender): ([Double], [Double]) = ([], [])
                for _ in 0..<(operation == .generate && !kind.isCurve ? 3 : rounds) {
                    if operation == .generate {
                        floor.append(try Self.median(calls) { try KeyFloor.generate(kind) })
                        contender.append(try Self.median(calls) { try KeyContender.generate(kind) })
                    } else {
                        floor.append(try Self.median(calls) { try floors.0.run(operation, message, floors.1) })
                        contender.append(try Self.median(calls) { try contenders.0.run(operation, data, contenders.1) })
                    }
                }
                let (one, other) = (floor.sorted()[floor.count / 2], contender.sorted()[contender.count / 2])
                // The time to generate an RSA key varies, because the search for primes is random.
                if operation != .generate || kind.isCurve { worst = max(worst, other / one) }
                table.rows.append([
                    "\(kind.name) \(operation)", Text.microseconds(one), Text.microseconds(other),
                    Text.ratio(other / one),
                    Text.microseconds(other - one),
                ])
            }
        }
        print(table.text)
        if !stored {
            print(
                "\n  \(worst <= 1.1 ? "met   " : "MISSED")  at most 1.1 times libcrypto for keys in memory: \(Text.ratio(worst)) at worst"
            )
        }
    }

    private static func calls(_ kind: KeyBenchKind, _ operation: KeyBenchOperation) -> Int {
        if operation == .generate, !kind.isCurve { return kind.bits > 3000 ? 3 : 9 }
        return kind.isCurve ? 200 : kind.bits > 3000 ? 60 : 120
    }

    private static func median(_ calls: Int, _ body: () throws -> Void) throws -> Double {
        var timings = Timings()
        try body()
        for _ in 0..<calls { timings.append(try Stopwatch.time(body).nanoseconds) }
        return timings.summary.median
    }
}
