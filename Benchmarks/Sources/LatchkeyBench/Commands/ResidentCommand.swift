// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Looks up a hundred items of an existing keychain, and prints this process's memory afterwards as
/// JSON.
struct ResidentCommand: ParsableCommand {
    static let name = "rss"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Print the memory of a process after 100 lookups; started by `run`.")

    @Option(help: "The LATCHKEY_HOME of the keychain.")
    var home: String

    @Option(help: "The number of items in the keychain.")
    var items: Int

    func validate() throws {
        guard (1...Item.maxSize).contains(items) else {
            throw ValidationError("--items: expected 1 to \(Item.maxSize)")
        }
    }

    func run() throws {
        let keychain = EmbeddedKeychain(home: home)
        var picker = ItemPicker()
        for item in picker.items(100, below: items) { _ = try keychain.time(.exactLookup, on: item, size: items) }
        let resident = try ResidentMemory.ofThisProcess()
        print(String(decoding: try JSONEncoder().encode(resident), as: UTF8.self))
    }
}
