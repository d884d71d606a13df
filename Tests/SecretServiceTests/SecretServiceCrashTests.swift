// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// A client of the Secret Service. Its service, or the latchkeyd behind it, is killed during the writes.
@Suite(
    "Crash of the Secret Service", .serialized,
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct SecretServiceCrashTests {
    @Test(
        "After SIGKILL at random times, every acknowledged item has its secret and its attributes, and no item is without a secret",
        arguments: CrashWorld.Victim.allCases)
    func killed(_ victim: CrashWorld.Victim) throws {
        // `make crash` sets 300.
        let rounds =
            ProcessInfo.processInfo.environment["LATCHKEY_SECRET_SERVICE_CRASH_ROUNDS"].flatMap(Int.init) ?? 10
        let world = try CrashWorld(victim)
        var history = CrashHistory()
        var (expected, acknowledged) = (0, 0)
        for round in 0..<rounds {
            // Half of the rounds end with the first changes, the others after some acknowledged ones.
            let wanted = round.isMultiple(of: 2) ? 0 : Int.random(in: 1...8)
            let count = try world.change(&history, killingAfter: wanted)
            expected += wanted
            acknowledged += count
            try world.startAgain()
            let found = try world.items()
            #expect(history.allows(found), "round \(round): \(found) after \(history)")
            history.begin(with: found)
        }
        #expect(acknowledged >= expected && expected >= rounds / 2, "too few acknowledged changes")
    }
}
