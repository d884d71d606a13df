// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// A time that clock_gettime(2) has returned.
public struct SystemTime: Hashable, Sendable {
    public let seconds: UInt64
    /// Below 1,000,000,000.
    public let nanoseconds: UInt64

    public enum Clock: Sendable {
        case boot, monotonic, wall
        /// The processor time of the calling thread.
        case thread

        fileprivate var identifier: clockid_t {
            switch self {
            case .boot: CLOCK_BOOTTIME
            case .monotonic: CLOCK_MONOTONIC
            case .wall: CLOCK_REALTIME
            case .thread: CLOCK_THREAD_CPUTIME_ID
            }
        }
    }

    /// Returns the time of a clock: from libc (a preloaded library may replace it), or else from the kernel itself; nil
    /// if both fail or return no time.
    public static func read(_ clock: Clock) -> SystemTime? {
        var time = timespec()
        if clock_gettime(clock.identifier, &time) == 0,
            let valid = SystemTime(validating: Int64(time.tv_sec), Int64(time.tv_nsec))
        {
            return valid
        }
        var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
        guard latchkey_clock_gettime(clock.identifier, &seconds, &nanoseconds) == 0 else { return nil }
        return SystemTime(validating: seconds, nanoseconds)
    }

    /// - Returns: nil for a time before 1970 or after the year 9999.
    init?(validating seconds: Int64, _ nanoseconds: Int64) {
        guard (0...Self.lastSecond).contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else { return nil }
        (self.seconds, self.nanoseconds) = (UInt64(seconds), UInt64(nanoseconds))
    }

    private static let lastSecond: Int64 = 253_402_300_799
}
