// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// The observers of the keychain, also of the one that this process opens anew when a daemon was started or
/// has ended.
final class KeychainObservers: Sendable {
    private struct Registration {
        var generation: UInt64
        var removal: Removal?
    }

    private let observers = Observers()
    private let registration = SystemMutex<Registration?>(nil)

    /// Adds an observer. It is removed with the last reference to the returned object.
    func add(
        _ keychain: KeychainSession, _ generation: UInt64, _ body: @escaping Observers.Body
    ) throws(KeychainError) -> any Sendable {
        if registration.withLock({ $0?.generation }) != generation { try register(keychain, generation) }
        return observers.add(body)
    }

    /// Observes the keychain that was opened anew, in place of the one before. Events in between are unknown, and
    /// reported as a change.
    func renew(_ keychain: KeychainSession, _ generation: UInt64) {
        let isStale = registration.withLock { registration in
            guard let known = registration?.generation, known != generation else { return false }
            // One attempt: a daemon that does not report changes costs each opening one request.
            registration?.generation = generation
            return true
        }
        guard isStale else { return }
        try? register(keychain, generation)
        observers.report(.contents)
        observers.report(.lock(.keychain))
    }

    private func register(_ keychain: KeychainSession, _ generation: UInt64) throws(KeychainError) {
        let changes = try keychain.addChangeObserver { [observers] _ in observers.report(.contents) }
        let lock = keychain.addLockObserver { [observers] _ in observers.report(.lock(.keychain)) }
        let removal = Removal {
            keychain.removeChangeObserver(changes)
            keychain.removeLockObserver(lock)
        }
        // The removal of the one before may wait for its daemon, so it is outside of the lock.
        let previous = registration.withLock { registration in
            defer { registration = Registration(generation: generation, removal: removal) }
            return registration
        }
        withExtendedLifetime(previous) {}
    }
}

extension LockDomain {
    /// All collections in the keychain are locked and unlocked together.
    static let keychain = LockDomain("keychain")
}
