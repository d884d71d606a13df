// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LinuxSystem

/// The keybag of a running process and its lock state: `beforeFirstUnlock → unlocked ⇄ locked`.
///
/// Opened class keys are never written anywhere. They are wiped after the lock: those of `ak`,
/// `aku` and `akpu` when the grace period ends, those of `ck` and `cku` when the process ends.
public final class LockableKeybag: Sendable {
    struct State {
        var device: DeviceKeybag
        var user: UnlockedKeybag?
        /// The private presence keys that an unlocked keychain keeps: see ``LockableKeybag+Presence``.
        var presence = HeldPresence()
        var isLocked = false
        /// Settings that apply in place of the stored ones, until a passcode is there to store them.
        var pendingSettings: KeybagSettings?
        /// When the keys of the locked classes are wiped, on the clock of the boot.
        var graceDeadline: UInt64?
        /// When an item was last requested, on the clock of the boot.
        var lastUse: UInt64 = 0
        /// Whether a thread waits until the keychain has been idle long enough.
        var isWatched = false
        /// Cached until the next change.
        var keyring: Keyring?
        var observers: [Int: @Sendable (LockState) -> Void] = [:]
        var nextObserver = 0

        var settings: KeybagSettings { pendingSettings ?? device.settings }

        var lockState: LockState {
            guard device.hasPasscode else { return .unlocked }
            guard user != nil else { return .beforeFirstUnlock }
            return isLocked ? .locked : .unlocked
        }
    }

    let state: SystemMutex<State>
    private let clock: BootClock

    public init(_ device: DeviceKeybag, clock: BootClock) {
        state = SystemMutex(State(device: device))
        self.clock = clock
    }

    // MARK: Reading

    public var device: DeviceKeybag { state.withLock { $0.device } }

    /// The settings that apply.
    public var settings: KeybagSettings { state.withLock { $0.settings } }

    /// The settings that are not stored yet, if any.
    public var pendingSettings: KeybagSettings? { state.withLock { $0.pendingSettings } }

    /// Applies settings that are stored with the next passcode; nil for the stored ones.
    public func apply(_ settings: KeybagSettings?) {
        state.withLock { $0.pendingSettings = settings }
        startIdleTimer()
    }

    public var lockState: LockState { state.withLock { $0.lockState } }

    /// The seconds left of the grace period; nil if none is running.
    public var graceLeft: Double? {
        let now = clock.now()
        return state.withLock { state in
            state.graceDeadline.map { $0 > now ? Double($0 - now) / 1e9 : 0 }
        }
    }

    /// The keys that are available now.
    public var keyring: Keyring {
        lockIfIdle()
        return state.withLock { state in
            lockIfGraceExpired(&state)
            if let keyring = state.keyring { return keyring }
            let fresh = Keyring(state.device, state.user)
            state.keyring = fresh
            return fresh
        }
    }

    /// Records that items are requested: the keychain is not idle.
    public func recordUse() {
        lockIfIdle()
        state.withLock { $0.lastUse = clock.now() }
        // Retries, in case no thread could be started before.
        startIdleTimer()
    }

    // MARK: Changing

    /// Replaces the keybag by one that this or another process has changed. Opened keys that are
    /// still valid are kept.
    public func replace(_ device: DeviceKeybag) {
        change { state in
            // A slower thread may deliver an older keybag.
            guard device.keychain != state.device.keychain || device.generation >= state.device.generation else {
                return
            }
            state.device = device
            state.user = state.user?.retained(in: device.record)
            state.presence.retain(in: device.record)
            if state.user == nil {
                (state.isLocked, state.graceDeadline) = (false, nil)
                state.presence.wipe()
            }
        }
        startIdleTimer()
    }

    /// Replaces the keybag by one that this process has changed, with the keys that its passcode
    /// opens. The lock state stays the same: changing the passcode of a locked keychain does not
    /// unlock it.
    ///
    /// - Parameter unlocks: also unlocks a keychain that was never unlocked, as setting a first
    ///   passcode does.
    public func install(_ device: DeviceKeybag, _ user: UnlockedKeybag?, unlocks: Bool = false) {
        change { state in
            state.device = device
            state.lastUse = clock.now()
            state.presence.retain(in: device.record)
            guard let user, unlocks || state.user != nil else {
                (state.user, state.isLocked, state.graceDeadline) = (nil, false, nil)
                state.presence.wipe()
                return
            }
            let isClosed = state.isLocked && state.graceDeadline == nil
            state.user = isClosed ? user.afterLock : user
        }
        startIdleTimer()
    }

    /// Unlocks with the keys that the passcode has opened.
    public func unlock(_ user: UnlockedKeybag) {
        change { state in
            guard user.keychain == state.device.keychain else { return }
            state.user = user
            state.isLocked = false
            state.graceDeadline = nil
            state.lastUse = clock.now()
        }
        startIdleTimer()
    }

    /// Locks. The keys are wiped when the grace period of the settings ends.
    ///
    /// - Parameter immediately: whether the grace period is skipped.
    public func lock(immediately: Bool) {
        var deadline: UInt64?
        change { state in
            // Also before the first unlock, when a passcode may have satisfied a constraint.
            state.presence.wipe()
            guard state.device.hasPasscode, let user = state.user else { return }
            if !state.isLocked || immediately {
                let grace = immediately ? 0 : UInt64(state.settings.graceSeconds) * 1_000_000_000
                state.graceDeadline = clock.now() + grace
            }
            state.isLocked = true
            if state.graceDeadline.map({ $0 <= clock.now() }) == true {
                state.user = user.afterLock
                state.graceDeadline = nil
            }
            deadline = state.graceDeadline
        }
        if let deadline { wipe(at: deadline) }
    }

    /// Wipes the keys that the passcode has opened, for a keychain that is no longer used.
    /// Observers are not called.
    public func forget() {
        state.withLock { state in
            (state.user, state.keyring, state.isLocked, state.graceDeadline) = (nil, nil, false, nil)
            state.presence.wipe()
        }
    }

    private func lockIfGraceExpired(_ state: inout State) {
        guard let graceDeadline = state.graceDeadline, graceDeadline <= clock.now() else { return }
        state.user = state.user?.afterLock
        state.graceDeadline = nil
        state.keyring = nil
    }

    /// Wipes the keys when the grace period ends, even if nothing is requested. If no thread can be
    /// started for that, there is no grace period.
    private func wipe(at deadline: UInt64) {
        let clock = clock
        let isRunning = BackgroundThread.run { [weak self] in
            while true {
                let now = clock.now()
                guard now < deadline else { break }
                // Sleeps in steps, because the clock of usleep(3) stops while the machine is
                // suspended.
                usleep(UInt32(min((deadline - now) / 1000, 200_000)))
                guard let self, self.state.withLock({ $0.graceDeadline == deadline }) else { return }
            }
            self?.state.withLock { state in self?.lockIfGraceExpired(&state) }
        }
        guard !isRunning else { return }
        state.withLock { state in
            guard state.graceDeadline == deadline else { return }
            state.graceDeadline = clock.now()
            lockIfGraceExpired(&state)
        }
    }

    // MARK: Idleness

    /// Whether a thread waits until the keychain has been idle long enough.
    var isWatched: Bool { state.withLock { $0.isWatched } }

    /// Returns the nanoseconds until the idle keychain locks itself; nil if it does not.
    private func idleTimeLeft(_ state: State) -> UInt64? {
        let interval = UInt64(state.settings.lockInterval) * 1_000_000_000
        guard interval > 0, state.user != nil, !state.isLocked else { return nil }
        let now = clock.now()
        let idle = now > state.lastUse ? now - state.lastUse : 0
        return idle < interval ? interval - idle : 0
    }

    private func lockIfIdle() {
        guard state.withLock({ idleTimeLeft($0) == 0 }) else { return }
        change { state in
            // Another thread may have used or unlocked it since.
            guard idleTimeLeft(state) == 0 else { return }
            (state.isLocked, state.graceDeadline, state.user) = (true, nil, state.user?.afterLock)
            state.presence.wipe()
        }
    }

    /// Ensures that one thread locks the keychain when it is idle, even if nothing is requested.
    private func startIdleTimer() {
        let isNew = state.withLock { state in
            guard !state.isWatched, idleTimeLeft(state) != nil else { return false }
            state.isWatched = true
            return true
        }
        guard isNew else { return }
        let isRunning = BackgroundThread.run { [weak self] in
            while self?.startsIdleTimer() == true { usleep(Self.idleStep) }
        }
        if !isRunning { state.withLock { $0.isWatched = false } }
    }

    /// Locks an idle keychain; returns false if there is nothing left to wait for.
    private func startsIdleTimer() -> Bool {
        lockIfIdle()
        return state.withLock { state in
            state.isWatched = idleTimeLeft(state) != nil
            return state.isWatched
        }
    }

    /// Half a second, in microseconds.
    private static let idleStep: UInt32 = 500_000

    // MARK: Observing

    /// Calls `body` with every new lock state, on the thread that changes it.
    ///
    /// - Returns: a number for ``removeObserver(_:)``.
    public func addObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = body
            return state.nextObserver
        }
    }

    public func removeObserver(_ number: Int) {
        state.withLock { $0.observers[number] = nil }
    }

    private func change(_ body: (inout State) -> Void) {
        let (before, after, observers) = state.withLock { state in
            let before = state.lockState
            body(&state)
            state.keyring = nil
            return (before, state.lockState, Array(state.observers.values))
        }
        guard before != after else { return }
        for observer in observers { observer(after) }
    }
}
