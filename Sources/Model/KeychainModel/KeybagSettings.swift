// SPDX-License-Identifier: Apache-2.0

/// How a keychain locks itself. Part of the keybag, and authenticated with it.
public struct KeybagSettings: Sendable, Equatable {
    /// How long what the lock closes stays open after it, in seconds; 0 closes at once.
    public var graceSeconds: UInt16
    /// After how many seconds without use the keychain locks itself; 0 is never.
    public var lockInterval: UInt32
    /// Whether the keychain locks itself when the machine goes to sleep.
    public var locksOnSleep: Bool
    /// Whether the tenth wrong passcode destroys what the passcode protects. Off by default, because any program of the user could do that.
    public var wipesAfterTen: Bool

    public init(
        graceSeconds: UInt16 = 10, lockInterval: UInt32 = 0, locksOnSleep: Bool = false, wipesAfterTen: Bool = false
    ) {
        self.graceSeconds = graceSeconds
        self.lockInterval = lockInterval
        self.locksOnSleep = locksOnSleep
        self.wipesAfterTen = wipesAfterTen
    }
}
