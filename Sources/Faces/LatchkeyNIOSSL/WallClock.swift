// SPDX-License-Identifier: Apache-2.0

internal import Foundation

enum WallClock {
    /// Seconds since 1970.
    static var now: Double { Date().timeIntervalSince1970 }
}
