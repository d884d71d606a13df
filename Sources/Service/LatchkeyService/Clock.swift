// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The wall clock.
public enum Clock {
    /// Seconds since 2001-01-01 00:00:00 UTC, to the microsecond.
    @Sendable public static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = Double(time.tv_nsec / 1000) / 1_000_000
        return Double(time.tv_sec - secondsBetweenEpochs) + microseconds
    }

    /// From 1970-01-01 to 2001-01-01.
    private static let secondsBetweenEpochs = 978_307_200
}
