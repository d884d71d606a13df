// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// One user's keychain: opened on first use, and closed after it was idle. A failure is not cached:
/// the next call tries again.
final class KeychainSlot: Sendable {
    private struct State {
        var opened: ServedKeychain?
        /// Leases that have not ended.
        var leases = 0
        /// When the last lease began or ended (`BootClock`).
        var usedAt: UInt64 = 0

        mutating func beginLease() {
            leases += 1
            usedAt = BootClock.system.now()
        }

        mutating func endLease() {
            leases -= 1
            usedAt = BootClock.system.now()
        }
    }

    /// Held while the keychain is opened or closed.
    private let semaphore = BinarySemaphore()
    private let state = SystemMutex(State())
    /// Not part of `state`, because `state` is read while files are written under this lock.
    private let held = SystemMutex<HomeOwnership?>(nil)

    var opened: ServedKeychain? { state.withLock { $0.opened } }

    /// Whether this daemon owns the home; for tests.
    var holdsHome: Bool { held.withLock { $0 != nil } }

    /// When the keychain was used last; nil if it is closed or in use.
    var idleSince: UInt64? { state.withLock { $0.opened != nil && $0.leases == 0 ? $0.usedAt : nil } }

    /// Returns the keychain. It stays open as long as the returned value is kept.
    func keychain(
        _ open: (HomeOwnership) throws(KeychainError) -> ServedKeychain,
        acquire: () throws(KeychainError) -> HomeOwnership
    )
        throws(KeychainError) -> ServedKeychain
    {
        if let leased = lease() { return leased }
        semaphore.acquire()
        defer { semaphore.release() }
        if let leased = lease() { return leased }
        let fresh = try opening(open, acquire)
        state.withLock { $0.opened = fresh }
        return lease() ?? fresh
    }

    /// Opens the keychain. If that fails, a home that was acquired for it is released.
    private func opening(
        _ open: (HomeOwnership) throws(KeychainError) -> ServedKeychain,
        _ acquire: () throws(KeychainError) -> HomeOwnership
    ) throws(KeychainError) -> ServedKeychain {
        let wasHeld = holdsHome
        do throws(KeychainError) {
            return try open(try ownership(acquire))
        } catch {
            if !wasHeld { held.withLock { $0 = nil } }
            throw error
        }
    }

    /// Returns the keychain with a lease if it is open.
    func lease() -> ServedKeychain? {
        let opened = state.withLock { state -> ServedKeychain? in
            if state.opened != nil { state.beginLease() }
            return state.opened
        }
        return opened?.leased(startLease())
    }

    /// Returns a lease; its start was already counted.
    private func startLease() -> KeychainLease {
        KeychainLease { [self] in state.withLock { $0.endLease() } }
    }

    /// Returns the ownership of the home with a lease: while the lease is kept, closing as idle
    /// does not release the home.
    func leasedOwnership(
        _ acquire: () throws(KeychainError) -> HomeOwnership
    ) throws(KeychainError) -> (ownership: HomeOwnership, lease: KeychainLease) {
        // Waits for an idle close that is in progress.
        semaphore.acquire()
        defer { semaphore.release() }
        state.withLock { $0.beginLease() }
        let lease = startLease()
        return (try ownership(acquire), lease)
    }

    /// Returns the ownership of the home, and acquires it if necessary.
    func ownership(_ acquire: () throws(KeychainError) -> HomeOwnership) throws(KeychainError) -> HomeOwnership {
        let outcome: Result<HomeOwnership, KeychainError> = held.withLock { held in
            if let held { return .success(held) }
            let fresh = Result { () throws(KeychainError) in try acquire() }
            held = try? fresh.get()
            return fresh
        }
        return try outcome.get()
    }

    /// Runs `body` while the keychain is closed; the next call opens it again.
    func whileClosed<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        semaphore.acquire()
        defer { semaphore.release() }
        takeOpened { _ in true }?.close()
        return try body()
    }

    /// Runs `body` to create or delete the keychain, while it is closed. If it succeeds, the home is released.
    func replacing(_ body: () throws(KeychainError) -> Void) throws(KeychainError) {
        try whileClosed { () throws(KeychainError) in
            try body()
            held.withLock { $0 = nil }
        }
    }

    /// Closes the keychain and releases its home if it is not in use and closing it loses nothing.
    /// An unlocked keychain stays open.
    ///
    /// - Returns: true if the keychain was open and is now closed.
    func closeIfIdle() -> Bool {
        semaphore.acquire()
        defer { semaphore.release() }
        guard closeOpened() else { return false }
        // This releases the last reference to the home's lock. The lock is acquired again when the
        // keychain is opened.
        held.withLock { $0 = nil }
        return true
    }

    /// A function of its own, so that no reference to the keychain remains when it returns.
    private func closeOpened() -> Bool {
        guard opened?.canCloseWithoutLoss == true, let closing = takeOpened({ $0.leases == 0 }) else { return false }
        closing.close()
        return true
    }

    private func takeOpened(_ condition: (State) -> Bool) -> ServedKeychain? {
        state.withLock { state in
            guard condition(state) else { return nil }
            defer { state.opened = nil }
            return state.opened
        }
    }
}

extension ServedKeychain {
    /// Whether reopening the keychain restores the current state: nothing that a passcode protects
    /// is unlocked.
    var canCloseWithoutLoss: Bool {
        guard let status = try? service.lock.status() else { return false }
        return !status.hasPasscode || status.state == .beforeFirstUnlock
    }
}
