// SPDX-License-Identifier: Apache-2.0

/// The result of `latchkey login-password`, as its exit value. PAM/login_command.h has the same numbers.
enum LoginOutcome: Int32, Sendable {
    /// The keychain is unlocked, or the passcode is changed.
    case done = 0
    /// It has failed, with a message.
    case failed = 1
    /// There is nothing to unlock or to change.
    case nothingChanged = 10
    /// The password is not the passcode, and the user was not told of it yet.
    case staysLocked = 11
    /// The password is not the passcode, or too many wrong passcodes were given.
    case staysLockedAsReported = 12
    /// The passcode follows the login password, and could not be changed.
    case notChanged = 13
}
