// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The misses of every user, for all threads of a process.
///
/// They are not stored: a process that starts again has no key that a finger releases until the
/// passcode has been verified.
public final class BiometryLockout: Sendable {
    private let users = SystemMutex<[UInt32: BiometryMisses]>([:])

    public init() {}

    public func isLocked(_ user: UInt32) -> Bool { misses(of: user).isLocked }

    public func misses(of user: UInt32) -> BiometryMisses { users.withLock { $0[user] ?? BiometryMisses() } }

    /// - Returns: whether biometry is locked now.
    public func recordMiss(_ user: UInt32) -> Bool {
        users.withLock { users in
            users[user, default: BiometryMisses()].recordMiss()
            return users[user]?.isLocked ?? true
        }
    }

    /// - Returns: whether the match counts: false if biometry is locked.
    public func recordMatch(_ user: UInt32) -> Bool {
        users.withLock { users in
            users[user]?.recordMatch()
            return users[user]?.isLocked != true
        }
    }

    /// Unlocks biometry, because the user's passcode has been verified.
    public func recordPasscode(_ user: UInt32) { users.withLock { $0[user] = nil } }
}
