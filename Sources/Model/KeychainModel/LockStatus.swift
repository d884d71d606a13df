// SPDX-License-Identifier: Apache-2.0

/// What a keychain says of its lock.
public struct LockStatus: Sendable, Equatable {
    public var state: LockState
    public var hasPasscode: Bool
    public var hasRecoveryKey: Bool
    public var settings: KeybagSettings
    /// The classes whose items can be read and written now.
    public var open: Set<ProtectionClass>
    /// The seconds that the classes which the lock closes stay open; nil where no grace is running.
    public var graceLeft: Double?
    /// The wrong passcodes since the last right one.
    public var wrongPasscodes: Int
    /// The seconds until a passcode is judged again.
    public var delay: Int
    /// When the delay began, in seconds since 1970: with the last wrong passcode that was counted, or with the start of the machine after it; nil
    /// where none is running.
    public var delayBegan: Double?
    /// The programs that gave wrong passcodes since the last right one, the latest last. Only latchkeyd knows them, from its log; empty otherwise.
    public var guesses: [PasscodeGuess] = []

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
