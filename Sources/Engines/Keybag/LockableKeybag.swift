// SPDX-License-Identifier: Apache-2.0

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
        /// Whether a thread waits for the next time to wipe keys.
        var isWatched = false
        /// Wakes that thread.
        var alarm: BootAlarm?
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

    deinit { state.withLock { $0.alarm?.raise() } }

    // MARK: Reading

    public var device: DeviceKeybag { state.withLock { $0.device } }

    /// The settings that apply.
    public var settings: KeybagSettings { state.withLock { $0.settings } }

    /// The settings that are not stored yet, if any.
    public var pendingSettings: KeybagSettings? { state.withLock { $0.pendingSettings } }

    /// Applies settings that are stored with the next passcode; nil for the stored ones.
    public func apply(_ settings: KeybagSettings?) {
        state.withLock { state in
            state.pendingSettings = settings
            state.alarm?.raise()
        }
        startTimer()
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
        startTimer()
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
        startTimer()
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
        startTimer()
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
        startTimer()
    }

    /// Locks. The keys are wiped when the grace period of the settings ends.
    ///
    /// - Parameter immediately: whether the grace period is skipped.
    public func lock(immediately: Bool) {
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
        }
        guard !startTimer() else { return }
        // Without a thread that wipes the keys at its end, there is no grace period.
        state.withLock { state in
            guard state.graceDeadline != nil else { return }
            state.graceDeadline = clock.now()
            lockIfGraceExpired(&state)
        }
    }

    /// Wipes the keys that the passcode has opened, for a keychain that is no longer used.
    /// Observers are not called.
    public func forget() {
        state.withLock { state in
            (state.user, state.keyring, state.isLocked, state.graceDeadline) = (nil, nil, false, nil)
            state.presence.wipe()
            state.alarm?.raise()
        }
    }

    private func lockIfGraceExpired(_ state: inout State) {
        guard let graceDeadline = state.graceDeadline, graceDeadline <= clock.now() else { return }
        state.user = state.user?.afterLock
        state.graceDeadline = nil
        state.keyring = nil
    }

    // MARK: Time

    /// Whether a thread waits for the next time to wipe keys.
    var isWatched: Bool { state.withLock { $0.isWatched } }

    /// When the idle keychain locks itself, on the clock of the boot; nil if it does not.
    private func idleDeadline(_ state: State) -> UInt64? {
        let interval = UInt64(state.settings.lockInterval) * 1_000_000_000
        guard interval > 0, state.user != nil, !state.isLocked else { return nil }
        return state.lastUse &+ interval
    }

    private func isIdle(_ state: State) -> Bool { idleDeadline(state).map { $0 <= clock.now() } == true }

    private func lockIfIdle() {
        guard state.withLock({ isIdle($0) }) else { return }
        change { state in
            // Another thread may have used or unlocked it since.
            guard isIdle(state) else { return }
            (state.isLocked, state.graceDeadline, state.user) = (true, nil, state.user?.afterLock)
            state.presence.wipe()
        }
    }

    /// Ensures that one thread locks the keychain when it is idle, and wipes the keys when the grace
    /// period ends, even if nothing is requested.
    ///
    /// - Returns: false if no thread can be started.
    @discardableResult
    private func startTimer() -> Bool {
        let (isNeeded, alarm) = state.withLock { state -> (Bool, BootAlarm?) in
            guard !state.isWatched, nextDeadline(state) != nil else { return (false, nil) }
            if state.alarm == nil { state.alarm = try? BootAlarm() }
            state.isWatched = state.alarm != nil
            return (true, state.alarm)
        }
        guard isNeeded else { return true }
        guard let alarm else { return false }
        let isRunning = BackgroundThread.run { [weak self, clock] in
            // While it waits, the thread does not keep the keybag.
            while let deadline = self?.wipeWhatIsDue() { alarm.wait(until: deadline, of: clock) }
        }
        if !isRunning { state.withLock { $0.isWatched = false } }
        return isRunning
    }

    /// Locks an idle keychain and ends an expired grace period; returns the next time to do so.
    private func wipeWhatIsDue() -> UInt64? {
        lockIfIdle()
        return state.withLock { state in
            lockIfGraceExpired(&state)
            let next = nextDeadline(state)
            state.isWatched = next != nil
            return next
        }
    }

    private func nextDeadline(_ state: State) -> UInt64? {
        [state.graceDeadline, idleDeadline(state)].compactMap { $0 }.min()
    }

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
            // The next time may be another one.
            if state.isWatched { state.alarm?.raise() }
            return (before, state.lockState, Array(state.observers.values))
        }
        guard before != after else { return }
        for observer in observers { observer(after) }
    }
}
