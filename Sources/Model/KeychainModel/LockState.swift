// SPDX-License-Identifier: Apache-2.0

/// Where a keychain with a passcode stands: `beforeFirstUnlock → unlocked ⇄ locked`.
public enum LockState: String, Sendable, CaseIterable {
    /// The passcode was not given since this device, or this process where it works alone, has started.
    case beforeFirstUnlock = "before-first-unlock"
    case unlocked
    case locked
}

extension ProtectionClass {
    /// When items of a class are open.
    public enum Accessibility: Sendable {
        /// While the keychain is unlocked.
        case whenUnlocked
        /// From the first unlock until the device, or the process that holds the keychain, ends.
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

    /// Whether a passcode protects the class, once there is one.
    public var needsPasscode: Bool { accessibility != .always }
}
