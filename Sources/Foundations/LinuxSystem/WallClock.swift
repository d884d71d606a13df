// SPDX-License-Identifier: Apache-2.0

/// The time of the day, as the machine has it.
public enum WallClock {
    /// Seconds since 1970, and parts of them; 0 if the clock cannot be read, when no certificate is valid.
    public static var now: Double {
        SystemTime.read(.wall).map { Double($0.seconds) + Double($0.nanoseconds) / 1e9 } ?? 0
    }

    /// Whole seconds since 1970; 0 if the clock cannot be read.
    public static var seconds: UInt64 { SystemTime.read(.wall)?.seconds ?? 0 }
}
