// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

enum WallClock {
    /// Seconds since 1970.
    static var now: Double { Date().timeIntervalSince1970 }
    /// Whole seconds since 1970.
    static var seconds: UInt64 { UInt64(max(0, now)) }
}
