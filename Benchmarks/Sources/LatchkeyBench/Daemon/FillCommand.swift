// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Adds the items to the keychain that the environment names.
struct FillCommand: ParsableCommand {
    static let name = "fill"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Fill a keychain; started by `daemon`.")

    @Option var items: Int

    func run() throws {
        let keychain = EmbeddedKeychain()
        for number in 0..<items { _ = try keychain.time(.add, on: Item(number), size: number) }
    }
}
