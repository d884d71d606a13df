// SPDX-License-Identifier: Apache-2.0

@testable import LinuxSystem
import Testing

@Suite("The clocks of the system")
struct SystemTimeTests {
    @Test(
        "A value of clock_gettime(2) out of range is no time",
        arguments: [
            (-1, 0), (Int64.min, 0), (Int64.max, 0), (253_402_300_800, 0), (0, -1), (0, 1_000_000_000),
            (0, Int64.min), (0, Int64.max),
        ] as [(Int64, Int64)])
    func damaged(_ seconds: Int64, _ nanoseconds: Int64) {
        #expect(SystemTime(validating: seconds, nanoseconds) == nil)
    }

    @Test("A time since boot leaves room for every timeout that is added to it")
    func largest() throws {
        let largest = try #require(SystemTime(validating: Int64(UInt32.max), 999_999_999))
        let nanoseconds = try #require(BootClock.nanoseconds(largest))
        #expect(nanoseconds < BootClock.unreadable)
        let later = try #require(SystemTime(validating: Int64(UInt32.max) + 1, 0))
        #expect(BootClock.nanoseconds(later) == nil)
        #expect(BootClock.nanoseconds(try #require(SystemTime(validating: 2, 5))) == 2_000_000_005)
    }

    @Test("The clocks of this machine are readable", arguments: [SystemTime.Clock.boot, .monotonic, .wall])
    func readable(_ clock: SystemTime.Clock) throws {
        let (first, second) = (try #require(SystemTime.read(clock)), try #require(SystemTime.read(clock)))
        if clock != .wall { #expect((first.seconds, first.nanoseconds) <= (second.seconds, second.nanoseconds)) }
        #expect(BootClock.system.now() < BootClock.unreadable)
    }
    @Test("The time of the day is that of the machine's clock")
    func wall() throws {
        let before = try #require(SystemTime.read(.wall))
        let (now, seconds) = (WallClock.now, WallClock.seconds)
        let after = try #require(SystemTime.read(.wall))
        #expect(Double(before.seconds)...Double(after.seconds + 1) ~= now)
        #expect(before.seconds...after.seconds ~= seconds)
    }
}
