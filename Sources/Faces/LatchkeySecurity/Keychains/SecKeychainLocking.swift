// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService

// The lock of a keychain. Through latchkeyd all programs share it; without latchkeyd it belongs to
// the process.

/// Unlocks a keychain. One without a password is always unlocked.
///
/// - Parameters:
///   - keychain: the keychain; nil for the default keychain.
///   - passwordLength: the length of the password.
///   - password: the password.
///   - usePassword: false does not ask the user: the call succeeds only if the keychain is unlocked.
/// - Returns: errSecAuthFailed for a wrong password; errSecInteractionNotAllowed without a password;
///   errSecNoSuchKeychain; errSecParam for a length without a password.
@available(*, deprecated, message: "latchkeyd unlocks keychains for all programs")
@discardableResult
public func SecKeychainUnlock(
    _ keychain: SecKeychain?, _ passwordLength: UInt32, _ password: UnsafeRawPointer?, _ usePassword: Bool
) -> OSStatus {
    status {
        let bytes = try CallerBytes(usePassword ? password : nil, usePassword ? passwordLength : 0)
        let session = try SecKeychain.session(keychain)
        let current = try session.lockStatus()
        guard current.hasPasscode else { return }
        guard usePassword else {
            guard try session.settledLockStatus().state == .unlocked else {
                throw KeychainError(.interactionNotAllowed, "a prompt for the password of a keychain is unsupported")
            }
            return
        }
        guard !bytes.isEmpty else { throw KeychainError.authFailed }
        try session.unlock(bytes.secret) { _, _ in }
    }
}

/// Locks a keychain. One without a password stays unlocked.
///
/// - Parameter keychain: the keychain; nil for the default keychain.
/// - Returns: errSecNoSuchKeychain.
@available(*, deprecated, message: "keychains lock themselves as their settings say")
@discardableResult
public func SecKeychainLock(_ keychain: SecKeychain?) -> OSStatus {
    status { try lock(try KeychainName.chosen(keychain)) }
}

/// Locks every keychain of the user that has a password.
///
/// - Returns: the first status of a keychain that could not be locked; the others are locked.
@available(*, deprecated, message: "keychains lock themselves as their settings say")
@discardableResult
public func SecKeychainLockAll() -> OSStatus {
    status {
        var problem: KeychainError?
        for place in try KeychainClient.registry().keychains().places {
            do throws(KeychainError) { try lock(place.name) } catch { problem = problem ?? error }
        }
        if let problem { throw problem }
    }
}

/// A keychain of a script has no grace period, as on macOS.
private func lock(_ name: KeychainName) throws(KeychainError) {
    let session = try KeychainClient.session(named: name)
    guard try session.lockStatus().hasPasscode else { return }
    try session.lock(immediately: name != .login)
}

/// Copies the access that a keychain allows now.
///
/// - Parameters:
///   - keychain: the keychain; nil for the default keychain.
///   - keychainStatus: receives all three bits for an unlocked keychain, and only
///     `kSecReadPermStatus` for a locked one.
/// - Returns: errSecNoSuchKeychain.
@available(*, deprecated, message: "calls report errSecInteractionNotAllowed for locked items")
@discardableResult
public func SecKeychainGetStatus(
    _ keychain: SecKeychain?, _ keychainStatus: UnsafeMutablePointer<SecKeychainStatus>
) -> OSStatus {
    status {
        let isUnlocked = try SecKeychain.session(keychain).settledLockStatus().state == .unlocked
        keychainStatus.pointee =
            isUnlocked ? kSecUnlockStateStatus | kSecReadPermStatus | kSecWritePermStatus : kSecReadPermStatus
    }
}

/// Sets when a keychain locks itself. It must be unlocked.
///
/// - Parameters:
///   - keychain: the keychain; nil for the default keychain.
///   - newSettings: settings of the version `SEC_KEYCHAIN_SETTINGS_VERS1`.
/// - Returns: errSecParam for another version; errSecNoSuchKeychain; the status of the keychain that every user has,
///   because its settings change only with its passcode.
@available(*, deprecated, message: "use the command security set-keychain-settings")
@discardableResult
public func SecKeychainSetSettings(_ keychain: SecKeychain?, _ newSettings: UnsafePointer<SecKeychainSettings>)
    -> OSStatus
{
    status {
        let new = newSettings.pointee
        guard new.version == UInt32(SEC_KEYCHAIN_SETTINGS_VERS1) else {
            throw KeychainError.parameter("unknown version of SecKeychainSettings: \(new.version)")
        }
        let session = try SecKeychain.session(keychain)
        let current = try session.lockStatus().settings
        var settings = current
        settings.locksOnSleep = new.lockOnSleep.boolValue
        settings.lockInterval = new.useLockInterval.boolValue ? new.lockInterval : 0
        guard settings != current else { return }
        try session.changeSettings(to: settings, nil)
    }
}

/// Copies when a keychain locks itself.
///
/// - Returns: errSecNoSuchKeychain.
@available(*, deprecated, message: "use the command security show-keychain-info")
@discardableResult
public func SecKeychainCopySettings(
    _ keychain: SecKeychain?, _ outSettings: UnsafeMutablePointer<SecKeychainSettings>
) -> OSStatus {
    status {
        let settings = try SecKeychain.session(keychain).lockStatus().settings
        outSettings.pointee = SecKeychainSettings(
            version: UInt32(SEC_KEYCHAIN_SETTINGS_VERS1), lockOnSleep: DarwinBoolean(settings.locksOnSleep),
            useLockInterval: DarwinBoolean(settings.lockInterval > 0), lockInterval: settings.lockInterval)
    }
}
