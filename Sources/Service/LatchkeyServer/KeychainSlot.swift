// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import Synchronization

/// One user's keychain: opened when it is asked for, closed when it was idle for long. A failure is not remembered: the next call tries again.
final class KeychainSlot: Sendable {
    private struct State {
        var opened: ServedKeychain?
        /// Leases that have not ended.
        var leases = 0
        /// When the last lease began or ended, on the clock of the boot.
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
    private let state = Mutex(State())
    /// Apart from the state, which is asked while files are written for this.
    private let held = Mutex<HomeOwnership?>(nil)

    var opened: ServedKeychain? { state.withLock { $0.opened } }

    /// Whether this daemon has the home; for tests.
    var holdsHome: Bool { held.withLock { $0 != nil } }

    /// When the keychain was used last; nil where it is closed, or in use.
    var idleSince: UInt64? { state.withLock { $0.opened != nil && $0.leases == 0 ? $0.usedAt : nil } }

    /// The keychain, which stays open for as long as what is returned is kept.
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
        let fresh = try open(try ownership(acquire))
        state.withLock { $0.opened = fresh }
        return lease() ?? fresh
    }

    private func lease() -> ServedKeychain? {
        let opened = state.withLock { state -> ServedKeychain? in
            if state.opened != nil { state.beginLease() }
            return state.opened
        }
        return opened?.leased(startLease())
    }

    /// A lease that was counted already.
    private func startLease() -> KeychainLease {
        KeychainLease { [self] in state.withLock { $0.endLease() } }
    }

    /// The daemon's hold on the home, with a lease: as long as that is kept, an idle close does not give the home back.
    func leasedOwnership(
        _ acquire: () throws(KeychainError) -> HomeOwnership
    ) throws(KeychainError) -> (ownership: HomeOwnership, lease: KeychainLease) {
        // An idle close that is under way ends first.
        semaphore.acquire()
        defer { semaphore.release() }
        state.withLock { $0.beginLease() }
        let lease = startLease()
        return (try ownership(acquire), lease)
    }

    /// The daemon's hold on the home, taken where it is not yet.
    func ownership(_ acquire: () throws(KeychainError) -> HomeOwnership) throws(KeychainError) -> HomeOwnership {
        let outcome: Result<HomeOwnership, KeychainError> = held.withLock { held in
            if let held { return .success(held) }
            let fresh = Result { () throws(KeychainError) in try acquire() }
            held = try? fresh.get()
            return fresh
        }
        return try outcome.get()
    }

    /// Runs `body` while the keychain is closed; the next call opens it anew.
    func whileClosed<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        semaphore.acquire()
        defer { semaphore.release() }
        takeOpened { _ in true }?.close()
        return try body()
    }

    /// Closes the keychain, and gives its home back, if nobody uses it and closing it loses nothing: whatever was unlocked stays open.
    ///
    /// - Returns: whether it was open, and is closed now.
    func closeIfIdle() -> Bool {
        semaphore.acquire()
        defer { semaphore.release() }
        guard closeOpened() else { return false }
        // Nothing refers to the home's lock any more: it is taken anew when the keychain is opened again.
        held.withLock { $0 = nil }
        return true
    }

    /// Keeps no reference to the keychain when it returns.
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
    /// Whether opening the keychain anew gives what there is now: nothing is unlocked that a passcode protects.
    fileprivate var canCloseWithoutLoss: Bool {
        guard let status = try? service.lockStatus() else { return false }
        return !status.hasPasscode || status.state == .beforeFirstUnlock
    }
}
