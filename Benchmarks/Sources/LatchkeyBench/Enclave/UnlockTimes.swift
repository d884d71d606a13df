// SPDX-License-Identifier: Apache-2.0

import Latchkey

/// The times of unlocks and of lookups through latchkeyd, with a passcode.
struct UnlockTimes {
    var derivation: Summary
    var unlock: Summary
    /// The time of an unlock minus that of the preceding derivation.
    var overhead: Summary
    var lookup: Summary

    /// Sets a passcode, measures, and removes it.
    static func measure(rounds: Int) throws -> UnlockTimes {
        ProgressLine.say("unlocks")
        let passcode = "correct horse battery staple"
        let keychain = Keychain.default
        try keychain.setPasscode(passcode)
        var (derivations, unlocks, overheads, lookups) = (Timings(), Timings(), Timings(), Timings())
        let items = EmbeddedKeychain()
        let item = Item(0)
        _ = try items.time(.add, on: item, size: 1)
        for _ in 0..<rounds * 2 {
            let derivation = Stopwatch.time { PasscodeLayer.derive(passcode) }.nanoseconds
            try keychain.lock(immediately: true)
            let unlock = try Stopwatch.time { try keychain.unlock(passcode: passcode) }.nanoseconds
            derivations.append(derivation)
            unlocks.append(unlock)
            overheads.append(unlock > derivation ? unlock - derivation : 0)
            for _ in 0..<200 { lookups.append(try items.time(.exactLookup, on: item, size: 1)) }
        }
        _ = try items.time(.delete, on: item, size: 1)
        try keychain.removePasscode(passcode)
        return UnlockTimes(
            derivation: derivations.summary, unlock: unlocks.summary, overhead: overheads.summary,
            lookup: lookups.summary)
    }

    func row(_ name: String) -> [String] {
        [
            name, Text.milliseconds(derivation.median), Text.milliseconds(unlock.median),
            Text.milliseconds(overhead.median), Text.microseconds(lookup.median),
        ]
    }
}
