// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Whether a login may try its password as the passcode.
enum LoginAttempt {
    /// Returns whether a wrong password causes no delay, and is not the tenth wrong passcode. The tenth may destroy
    /// items, and the person who logs in has not typed the password as the passcode.
    static func isAllowed(_ status: LockStatus) -> Bool {
        status.allowsUntypedPasscode
    }

    /// Whether an error means that the password is not the passcode.
    static func isWrong(_ error: KeychainError) -> Bool { error.status == .authFailed }
}
