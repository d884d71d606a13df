// SPDX-License-Identifier: Apache-2.0

/// The lock state of a keychain with a passcode: `beforeFirstUnlock → unlocked ⇄ locked`.
public enum LockState: String, Sendable, CaseIterable {
    /// The passcode was not entered since the start of the device, or of this process in embedded
    /// mode.
    case beforeFirstUnlock = "before-first-unlock"
    /// Every item can be opened. A keychain without a passcode is always unlocked.
    case unlocked
    /// The keychain was locked after an unlock: items of the classes `afterFirstUnlock…` and
    /// `always…` can be opened.
    case locked
}

extension ProtectionClass {
    /// When the items of a class can be opened.
    public enum Accessibility: Sendable {
        /// While the keychain is unlocked.
        case whenUnlocked
        /// From the first unlock until the device is shut down, or the process that holds the
        /// keychain ends.
        case afterFirstUnlock
        /// Always.
        case always
    }

    public var accessibility: Accessibility {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .whenUnlocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
        case .always, .alwaysThisDeviceOnly: .always
        }
    }

    /// Whether a passcode protects the class, if one is set.
    public var needsPasscode: Bool { accessibility != .always }
}
