// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Repeats a single call, so that a profiler sees only that call.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Repeat one call of Latchkey for some seconds, for use with a profiler.",
        discussion: """
            EXAMPLES:
              perf record --call-graph dwarf latchkey-bench profile
              perf record --call-graph dwarf latchkey-bench profile --call attributes --items 100000
            """)

    @Option(help: ArgumentHelp("One of: \(readingCalls.map(\.rawValue).joined(separator: ", ")).", valueName: "call"))
    var call = KeychainCall.exactLookup

    @Option(help: "The number of items in the keychain.")
    var items = 1_000

    @Option(help: "The duration in seconds, after the keychain is filled.")
    var seconds = 5.0

    private static let readingCalls: [KeychainCall] = [.exactLookup, .lookupByAccount, .attributes, .allOfService]

    func validate() throws {
        guard Self.readingCalls.contains(call) else {
            throw ValidationError("--call: only calls that do not change the keychain can be repeated")
        }
        guard (1...Item.maxSize).contains(items) else {
            throw ValidationError("--items: expected 1 to \(Item.maxSize)")
        }
    }

    func run() throws {
        let temporary = try TemporaryDirectory(in: NSTemporaryDirectory())
        defer { temporary.remove() }
        let keychain = EmbeddedKeychain(home: "\(temporary.path)/home")
        for number in 0..<items { _ = try keychain.time(.add, on: Item(number), size: number) }
        var picker = ItemPicker()
        var timings = Timings()
        let end = Stopwatch.now() + UInt64(seconds * 1e9)
        while Stopwatch.now() < end {
            for item in picker.items(50, below: items) {
                timings.append(try keychain.time(call, on: item, size: items))
            }
        }
        print("\(call.title): median \(Text.microseconds(timings.summary.median)) µs of \(timings.summary.count) calls")
    }
}

extension KeychainCall: ExpressibleByArgument {}
