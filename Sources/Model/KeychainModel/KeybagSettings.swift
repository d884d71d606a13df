// SPDX-License-Identifier: Apache-2.0

/// When a keychain locks itself. The settings are part of the keybag and authenticated with it.
public struct KeybagSettings: Sendable, Equatable {
    /// The grace period: the seconds after a lock in which keys are still kept; 0 for none.
    public var graceSeconds: UInt16
    /// The seconds without use until the keychain locks itself; 0 for never.
    public var lockInterval: UInt32
    /// Whether the keychain locks itself when the machine goes to sleep.
    public var locksOnSleep: Bool
    /// Whether the tenth wrong passcode destroys the data that the passcode protects. Off by default, because any
    /// program of the user could cause that.
    public var wipesAfterTen: Bool
    /// Whether keys for a Secure Enclave are created in the memory of the system's latchkeyd if the
    /// machine has no TPM. Off by default: such keys are not out of the administrator's reach.
    public var allowsSoftwareEnclave: Bool
    /// Whether a change of the login password changes the passcode as well. Ends with the passcode.
    public var isTiedToLogin: Bool

    /// Creates settings; the defaults are those of a new keychain.
    public init(
        graceSeconds: UInt16 = 10, lockInterval: UInt32 = 0, locksOnSleep: Bool = false, wipesAfterTen: Bool = false,
        allowsSoftwareEnclave: Bool = false, isTiedToLogin: Bool = false
    ) {
        self.graceSeconds = graceSeconds
        self.lockInterval = lockInterval
        self.locksOnSleep = locksOnSleep
        self.wipesAfterTen = wipesAfterTen
        self.allowsSoftwareEnclave = allowsSoftwareEnclave
        self.isTiedToLogin = isTiedToLogin
    }
}
