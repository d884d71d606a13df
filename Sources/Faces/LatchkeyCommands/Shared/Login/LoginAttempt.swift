// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Whether a login may try its password as the passcode.
enum LoginAttempt {
    /// A login causes no delay, and never the tenth wrong passcode, which may destroy items: the person who logs
    /// in has not typed it as the passcode.
    static func isAllowed(_ status: LockStatus) -> Bool {
        status.allowsUntypedPasscode
    }

    /// Whether an error means that the password is not the passcode.
    static func isWrong(_ error: KeychainError) -> Bool { error.status == .authFailed }
}
