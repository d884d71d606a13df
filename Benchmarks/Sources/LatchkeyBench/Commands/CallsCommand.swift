// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Makes a fixed number of calls, so that a profiler can count the instructions of one.
struct CallsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls", abstract: "Make one call a number of times, marked for callgrind.",
        discussion: """
            Callgrind counts only the marked calls, so that the instructions of one call are its total divided by \
            --count. Scripts/measure/instructions does this for every call and side.

            EXAMPLE:
              valgrind --tool=callgrind --toggle-collect='*markedCall*' latchkey-bench calls --count 200
            """)

    /// The implementation that makes the calls.
    enum Side: String, CaseIterable, ExpressibleByArgument {
        case latchkey, floor, raw
    }

    @Option(
        help: ArgumentHelp(
            "One of: \(KeychainCall.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "call"))
    var call = KeychainCall.exactLookup

    @Option(help: "latchkey, floor or raw.")
    var side = Side.latchkey

    @Option(help: "The number of marked calls, after a tenth as many that are not marked.")
    var count = 200

    @Option(help: "The number of items.")
    var items = 1_000

    @Option(help: ArgumentHelp("A LATCHKEY_HOME that `fill` has filled with the items.", valueName: "dir"))
    var home: String?

    func validate() throws {
        guard (1...Item.maxSize / 2).contains(items), (1...Item.maxSize / 2).contains(count) else {
            throw ValidationError("--items, --count: expected 1 to \(Item.maxSize / 2)")
        }
        // An item is changed or deleted once.
        guard ![.update, .delete].contains(call) || count + count / 10 < items else {
            throw ValidationError("--count: expected less than nine tenths of --items for this call")
        }
    }

    func run() throws {
        let calls = count + (count + 9) / 10
        let temporary = try TemporaryDirectory(in: NSTemporaryDirectory())
        defer { temporary.remove() }
        let contender = try contender(in: temporary)
        var picker = ItemPicker()
        for (index, item) in items(for: calls, &picker).enumerated() {
            Stopwatch.marksCalls = index >= calls - count
            _ = try contender.time(call, on: item, size: items)
        }
        Stopwatch.marksCalls = false
        print("\(count) calls of \(side.rawValue): \(call.title)")
    }

    private func items(for calls: Int, _ picker: inout ItemPicker) -> [Item] {
        switch call {
        case .exactLookup, .lookupByAccount, .attributes: picker.items(calls, below: items)
        case .allOfService: picker.services(calls, below: items)
        case .add: (items..<items + calls).map { Item($0) }
        case .update, .delete: picker.distinctItems(calls, below: items)
        }
    }

    private func contender(in temporary: TemporaryDirectory) throws -> any Contender {
        let keychain = EmbeddedKeychain(home: home ?? "\(temporary.path)/home")
        if home == nil { for number in 0..<items { _ = try keychain.time(.add, on: Item(number), size: number) } }
        guard side != .latchkey else { return keychain }
        let shape = try DatabaseShape(
            ofKeychainAt: EmbeddedKeychain.databasePath(home: home ?? "\(temporary.path)/home"))
        let floor = try Floor(path: "\(temporary.path)/floor.db", shape: shape)
        try floor.fill(0..<items)
        try floor.checkpoint()
        return side == .floor ? floor : try RawFloor(floor)
    }
}
