// SPDX-License-Identifier: Apache-2.0

/// The access that a keychain allows now: a sum of `kSecUnlockStateStatus`, `kSecReadPermStatus` and
/// `kSecWritePermStatus`.
public typealias SecKeychainStatus = UInt32

/// The keychain is unlocked.
public let kSecUnlockStateStatus: UInt32 = 1
/// The keychain can be read.
public let kSecReadPermStatus: UInt32 = 2
/// The keychain can be changed.
public let kSecWritePermStatus: UInt32 = 4

/// The version of ``SecKeychainSettings``.
public let SEC_KEYCHAIN_SETTINGS_VERS1: Int32 = 1

/// When a keychain locks itself.
public struct SecKeychainSettings {
    /// The version: `SEC_KEYCHAIN_SETTINGS_VERS1`.
    public var version: UInt32
    /// Whether it locks when the machine goes to sleep.
    public var lockOnSleep: DarwinBoolean
    /// Whether it locks after ``lockInterval``.
    public var useLockInterval: DarwinBoolean
    /// The seconds without use until the keychain locks.
    public var lockInterval: UInt32

    /// Creates settings with zeros.
    public init() { self.init(version: 0, lockOnSleep: false, useLockInterval: false, lockInterval: 0) }

    /// Creates settings, as C does with the fields in this order.
    public init(version: UInt32, lockOnSleep: DarwinBoolean, useLockInterval: DarwinBoolean, lockInterval: UInt32) {
        self.version = version
        self.lockOnSleep = lockOnSleep
        self.useLockInterval = useLockInterval
        self.lockInterval = lockInterval
    }
}
