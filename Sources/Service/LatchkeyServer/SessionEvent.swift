// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// What happens to a user's session or to the machine, as far as the lock follows it. Whoever listens to logind, or to anything else, tells the
/// server through ``KeychainServer/handleSessionEvent(_:)``, and through nothing else.
public enum SessionEvent: String, CaseIterable, Sendable {
    /// The screen was locked, or the session asked to be.
    case lock
    /// The machine is about to be suspended.
    case sleep
    /// The session has ended.
    case end

    /// Does to a keychain what the event asks for.
    func apply(to service: any KeychainService) {
        // Without a passcode there is nothing to lock, and what cannot be locked must not keep the event from the others.
        guard let status = try? service.lockStatus(), status.hasPasscode else { return }
        switch self {
        case .lock: _ = try? service.lock(immediately: false)
        // No grace runs while the machine sleeps: what the lock has closed is closed.
        case .sleep where status.settings.locksOnSleep || status.state == .locked:
            _ = try? service.lock(immediately: true)
        case .sleep: break
        case .end: _ = try? service.lock(immediately: true)
        }
    }
}
