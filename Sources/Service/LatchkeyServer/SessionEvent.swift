// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// An event of a user's session or of the machine that affects the lock. Observers of logind or of
/// other sources report events only through ``KeychainServer/handleSessionEvent(_:of:)``.
public enum SessionEvent: String, CaseIterable, Sendable {
    /// The screen was locked, or the session requested a lock.
    case lock
    /// The machine is about to be suspended.
    case sleep
    /// The last session of the user has ended.
    case end

    /// Locks a keychain as the event requires.
    func apply(to service: any KeychainService) {
        // Without a passcode there is nothing to lock. A keychain that cannot be locked must not
        // stop the event for the others.
        guard let status = try? service.lockStatus(), status.hasPasscode else { return }
        switch self {
        case .lock: _ = try? service.lock(immediately: false)
        // The grace period ends when the machine sleeps: a locked keychain loses its keys
        // immediately.
        case .sleep where status.settings.locksOnSleep || status.state == .locked:
            _ = try? service.lock(immediately: true)
        case .sleep: break
        case .end: _ = try? service.lock(immediately: true)
        }
    }
}
