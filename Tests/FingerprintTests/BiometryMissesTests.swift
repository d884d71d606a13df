// SPDX-License-Identifier: Apache-2.0

import Fingerprint
import Testing

@Suite("Misses of biometry")
struct BiometryMissesTests {
    @Test("Five misses in sequence lock; a match before ends the sequence")
    func sequence() {
        var misses = BiometryMisses()
        for _ in 1...4 { misses.recordMiss() }
        misses.recordMatch()
        #expect(misses.count == 0)
        for _ in 1...4 { misses.recordMiss() }
        #expect(!misses.isLocked)
        misses.recordMiss()
        #expect(misses.isLocked)
    }

    @Test("Only the passcode unlocks; a match does not, and further misses do not overflow")
    func locked() {
        var misses = BiometryMisses()
        for _ in 1...1000 { misses.recordMiss() }
        #expect(misses.count == BiometryMisses.max)
        misses.recordMatch()
        #expect(misses.isLocked)
        misses.recordPasscode()
        #expect(misses == BiometryMisses())
    }

    @Test("Every user has their own count, and a match of a locked user does not count")
    func users() {
        let lockout = BiometryLockout()
        for number in 1...5 { #expect(lockout.recordMiss(1) == (number == 5)) }
        #expect(lockout.isLocked(1))
        #expect(!lockout.isLocked(2))
        #expect(!lockout.recordMatch(1))
        #expect(lockout.recordMatch(2))
        lockout.recordPasscode(1)
        #expect(lockout.recordMatch(1))
    }
}
