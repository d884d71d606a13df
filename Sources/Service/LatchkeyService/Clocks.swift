// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Keybag
public import LinuxSystem

/// The clocks of a service: the wall clock, the time since boot, and the cost of checking a
/// passcode.
public struct Clocks: Sendable {
    /// Seconds since 2001-01-01 00:00:00 UTC, to the microsecond.
    let wall: @Sendable () -> Double
    let boot: BootClock
    let passcodeCost: PasscodeCost

    /// The clocks of this machine.
    public static let system = Clocks(wall: Clocks.now, boot: .system, passcodeCost: .floor)

    /// Creates clocks that a test controls.
    ///
    /// - Parameter passcodeExponent: scrypt's N is 2 to this power.
    @_spi(Testing) public init(wall: @escaping @Sendable () -> Double, boot: BootClock, passcodeExponent: UInt8) {
        self.init(wall: wall, boot: boot, passcodeCost: PasscodeCost(exponent: passcodeExponent))
    }

    private init(wall: @escaping @Sendable () -> Double, boot: BootClock, passcodeCost: PasscodeCost) {
        self.wall = wall
        self.boot = boot
        self.passcodeCost = passcodeCost
    }

    /// Returns the wall clock's time, in seconds since 2001; that of 1970 if the clock cannot be read.
    @Sendable static func now() -> Double {
        guard let time = SystemTime.read(.wall) else { return -Double(secondsBetweenEpochs) }
        let microseconds = Double(time.nanoseconds / 1000) / 1_000_000
        return Double(time.seconds) - Double(secondsBetweenEpochs) + microseconds
    }

    /// The seconds from 1970-01-01 to 2001-01-01.
    static let secondsBetweenEpochs = 978_307_200
}
