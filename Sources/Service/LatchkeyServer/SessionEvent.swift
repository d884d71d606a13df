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
    func apply(to service: EmbeddedService) {
        // A lock drops the keys first, and fails afterwards if the keychain has no passcode or cannot
        // be read. That must not stop the event for the other keychains.
        switch self {
        case .lock: _ = try? service.lock.lock(immediately: false)
        case .sleep:
            // The grace period ends when the machine sleeps: a locked keychain loses its keys immediately. So does one
            // with unreadable settings.
            let status = try? service.lock.status()
            let locks = status.map { $0.settings.locksOnSleep || $0.state == .locked } ?? true
            if locks { _ = try? service.lock.lock(immediately: true) }
        case .end: _ = try? service.lock.lock(immediately: true)
        }
    }
}
