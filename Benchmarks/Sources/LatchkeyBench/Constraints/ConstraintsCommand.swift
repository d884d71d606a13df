// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Latchkey
import LatchkeyLocalAuthentication
import LatchkeySecurity

/// Compares reads of items with an access control, in a context with a proven person, with reads of items without one:
/// alternately, in one process and one keychain.
struct ConstraintsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "constraints", abstract: "Compare reads with and without an access control.",
        discussion: """
            Needs pinentry-curses, which asks for the passcode once, on a terminal of the benchmark's own. Exits with 0
            even if an aim is missed, and with 1 if an operation fails.
            """)

    @Option(help: "The number of items of each kind.")
    var items = 200

    @Option(help: "The number of rounds; each round measures both kinds.")
    var rounds = 9

    @Option(help: ArgumentHelp("The directory for temporary databases; on a real disk, not tmpfs.", valueName: "dir"))
    var directory: String?

    func run() throws {
        let temporary = try TemporaryDirectory(in: directory ?? NSTemporaryDirectory())
        defer { temporary.remove() }
        // No daemon's socket is there, so that the process opens the keychain itself.
        for (name, value) in [("LATCHKEY_HOME", "\(temporary.path)/home"), ("XDG_RUNTIME_DIR", temporary.path)] {
            setenv(name, value, 1)
        }
        let keychain = Keychain.default
        try keychain.setPasscode(Self.passcode)
        try keychain.unlock(passcode: Self.passcode)
        let items = ConstrainedItems(count: items)
        try items.add()
        let person = try TypingPerson(Self.passcode)
        // The first read asks; the later ones reuse its authentication.
        _ = try items.timeConstrained(0)
        person.leave()

        var (plain, constrained): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            plain.append(try median(items.timePlain))
            constrained.append(try median(items.timeConstrained))
        }
        let (floor, time) = (plain.sorted()[rounds / 2], constrained.sorted()[rounds / 2])
        let ratio = time / floor
        print(
            """
            latchkey-bench constraints: \(items.count) items of each kind, \(rounds) rounds

              read of an item without an access control  \(Text.microseconds(floor)) µs
              read in a context that satisfies it        \(Text.microseconds(time)) µs, \(Text.ratio(ratio))

              \(ratio <= 1.3 ? "met   " : "MISSED")  a read in a live context at most 1.3 times one without: \
            \(Text.ratio(ratio))
            """)
    }

    /// The median time of one read of each item, in nanoseconds.
    private func median(_ time: (Int) throws -> UInt64) throws -> Double {
        var timings = Timings()
        for number in 0..<items { timings.append(try time(number)) }
        return timings.summary.median
    }

    private static let passcode = "a passcode of the benchmark"
}
