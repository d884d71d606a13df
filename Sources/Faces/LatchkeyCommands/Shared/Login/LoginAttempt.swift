// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Whether a login may try its password as the passcode.
enum LoginAttempt {
    /// A login causes no delay, and never the tenth wrong passcode, which may destroy items: the person who logs
    /// in has not typed it as the passcode.
    static func isAllowed(_ status: LockStatus) -> Bool {
        status.delay == 0 && status.wrongPasscodes < maxWrongPasscodes
    }

    /// Whether an error means that the password is not the passcode.
    static func isWrong(_ error: KeychainError) -> Bool { error.status == .authFailed }

    /// After one more, the fifth is the first one that causes a delay (keychain-behaviour §5.2).
    private static let maxWrongPasscodes = 4
}
