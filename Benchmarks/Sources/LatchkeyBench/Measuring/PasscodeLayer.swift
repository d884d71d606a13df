// SPDX-License-Identifier: Apache-2.0

import CScrypt
import Latchkey

/// The cost of a passcode: the derivation alone and a whole unlock, and lookups with and without a
/// passcode.
struct PasscodeLayer: Codable {
    /// scrypt with N = 2^17, r = 8, p = 1, in libcrypto.
    var derivation: Summary
    /// Unlocking, including the derivation.
    var unlock: Summary
    /// The time of an unlock minus that of the preceding derivation.
    var overhead: Summary
    /// An exact lookup without a passcode, and one with a passcode, unlocked.
    var lookupBefore: Summary
    var lookupAfter: Summary

    /// Sets a passcode on the keychain with `size` items, measures, and removes the passcode.
    static func measure(_ keychain: EmbeddedKeychain, size: Int, picker: inout ItemPicker) throws -> PasscodeLayer {
        ProgressLine.say("\(Text.grouped(size)) items: passcode")
        let passcode = "correct horse battery staple"
        // Measured alternately, so that other load affects both; the best of each counts.
        var before: [Summary] = []
        var after: [Summary] = []
        var derivations = Timings()
        var unlocks = Timings()
        var overheads = Timings()
        for _ in 0..<rounds {
            before.append(try lookups(keychain, size, &picker))
            try Keychain.default.setPasscode(passcode)
            after.append(try lookups(keychain, size, &picker))
            for _ in 0..<3 {
                let derivation = Stopwatch.time { derive(passcode) }.nanoseconds
                try Keychain.default.lock(immediately: true)
                let unlock = try Stopwatch.time { try Keychain.default.unlock(passcode: passcode) }.nanoseconds
                derivations.append(derivation)
                unlocks.append(unlock)
                // The difference of consecutive measurements, because derivations vary by more than
                // the overhead.
                overheads.append(unlock > derivation ? unlock - derivation : 0)
            }
            try Keychain.default.removePasscode(passcode)
        }
        return PasscodeLayer(
            derivation: derivations.summary, unlock: unlocks.summary, overhead: overheads.summary,
            lookupBefore: best(before),
            lookupAfter: best(after))
    }

    private static func best(_ summaries: [Summary]) -> Summary {
        summaries.min { $0.median < $1.median } ?? Timings().summary
    }

    private static func lookups(_ keychain: EmbeddedKeychain, _ size: Int, _ picker: inout ItemPicker) throws -> Summary
    {
        var timings = Timings()
        for _ in 0..<50 {
            for item in picker.items(50, below: size) {
                timings.append(try keychain.time(.exactLookup, on: item, size: size))
            }
        }
        return timings.summary
    }

    /// scrypt with the parameters of a keybag.
    static func derive(_ passcode: String) {
        var key = [UInt8](repeating: 0, count: 32)
        let salt = [UInt8](repeating: 7, count: 32)
        EVP_PBE_scrypt(passcode, passcode.utf8.count, salt, salt.count, 1 << 17, 8, 1, 160 << 20, &key, key.count)
    }

    private static let rounds = 5
}
