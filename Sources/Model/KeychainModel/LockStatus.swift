// SPDX-License-Identifier: Apache-2.0

/// The lock status of a keychain.
public struct LockStatus: Sendable, Equatable {
    /// The lock state.
    public var state: LockState
    /// Whether a passcode is set.
    public var hasPasscode: Bool
    /// Whether a recovery key exists.
    public var hasRecoveryKey: Bool
    /// The settings of the lock.
    public var settings: KeybagSettings
    /// The classes with items that can be read and written now.
    public var open: Set<ProtectionClass>
    /// The seconds left of the grace period; nil if none is running.
    public var graceLeft: Double?
    /// The wrong passcodes since the last right one.
    public var wrongPasscodes: Int
    /// The seconds until the next passcode can be tried.
    public var delay: Int
    /// When the delay began, in seconds since 1970: at the last counted wrong passcode, or at the
    /// machine's start after it; nil if no delay is running.
    public var delayBegan: Double?
    /// The programs that sent wrong passcodes since the last right one, the latest last. Only
    /// latchkeyd knows them, from its log; otherwise empty.
    public var guesses: [PasscodeGuess] = []

    /// Whether a passcode that the person has not typed may be tried. A wrong one causes no delay, and is never the
    /// tenth. The tenth may destroy items.
    public var allowsUntypedPasscode: Bool { Self.allowsUntypedPasscode(after: wrongPasscodes, delay: delay) }

    /// As ``allowsUntypedPasscode``, from the number of wrong passcodes and the delay.
    public static func allowsUntypedPasscode(after wrongPasscodes: Int, delay: Int) -> Bool {
        // The fifth is the first one that causes a delay (keychain-behaviour §5.2).
        delay == 0 && wrongPasscodes < 4
    }

    /// Creates a status.
    public init(
        state: LockState, hasPasscode: Bool, hasRecoveryKey: Bool, settings: KeybagSettings, open: Set<ProtectionClass>,
        graceLeft: Double? = nil, wrongPasscodes: Int = 0, delay: Int = 0,
        delayBegan: Double? = nil
    ) {
        self.state = state
        self.hasPasscode = hasPasscode
        self.hasRecoveryKey = hasRecoveryKey
        self.settings = settings
        self.open = open
        self.graceLeft = graceLeft
        self.wrongPasscodes = wrongPasscodes
        self.delay = delay
        self.delayBegan = delayBegan
    }
}
