// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LinuxSystem
internal import Synchronization

/// The keybag of a running process and what of it is open: `beforeFirstUnlock → unlocked ⇄ locked`.
///
/// Nothing that opens a class is ever written anywhere. Keys go after the lock: those of `ak`, `aku` and `akpu` when the grace is over, those
/// of `ck` and `cku` with the process.
public final class LockableKeybag: Sendable {
    private struct State {
        var device: DeviceKeybag
        var user: UnlockedKeybag?
        var isLocked = false
        /// When the keys of the classes that the lock closes are wiped, on the clock of the boot.
        var graceDeadline: UInt64?
        /// When an item was last asked for, on the clock of the boot.
        var lastUse: UInt64 = 0
        /// Whether a thread waits for the keychain to be left alone.
        var isWatched = false
        /// Made when it is asked for, until something changes.
        var keyring: Keyring?
        var observers: [Int: @Sendable (LockState) -> Void] = [:]
        var nextObserver = 0

        var lockState: LockState {
            guard device.hasPasscode else { return .unlocked }
            guard user != nil else { return .beforeFirstUnlock }
            return isLocked ? .locked : .unlocked
        }
    }

    private let state: Mutex<State>
    private let clock: BootClock

    public init(_ device: DeviceKeybag, clock: BootClock) {
        state = Mutex(State(device: device))
        self.clock = clock
    }

    // MARK: Reading

    public var device: DeviceKeybag { state.withLock { $0.device } }

    public var lockState: LockState { state.withLock { $0.lockState } }

    /// The seconds that the classes which the lock closes are still open; nil where no grace is running.
    public var graceLeft: Double? {
        let now = clock.now()
        return state.withLock { state in
            state.graceDeadline.map { $0 > now ? Double($0 - now) / 1e9 : 0 }
        }
    }

    /// The keys that are open now.
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

    /// Notes that items are asked for: the keychain is not left alone.
    public func recordUse() {
        lockIfIdle()
        state.withLock { $0.lastUse = clock.now() }
        // Here again, for where no thread could be started before.
        startIdleTimer()
    }

    // MARK: Changing

    /// Takes over a keybag that was changed, by this process or another one. What is open and still fits stays open.
    public func replace(_ device: DeviceKeybag) {
        change { state in
            // A slower thread may come with an older one.
            guard device.keychain != state.device.keychain || device.generation >= state.device.generation else {
                return
            }
            state.device = device
            state.user = state.user?.retained(in: device.record)
            if state.user == nil { (state.isLocked, state.graceDeadline) = (false, nil) }
        }
        startIdleTimer()
    }

    /// Takes over a keybag that this process has changed, with what its passcode opens. The lock stays as it is: whoever changes the passcode of
    /// a locked keychain does not unlock it.
    ///
    /// - Parameter unlocks: also opens what was never open, as setting a first passcode does.
    public func install(_ device: DeviceKeybag, _ user: UnlockedKeybag?, unlocks: Bool = false) {
        change { state in
            state.device = device
            state.lastUse = clock.now()
            guard let user, unlocks || state.user != nil else {
                (state.user, state.isLocked, state.graceDeadline) = (nil, false, nil)
                return
            }
            let isClosed = state.isLocked && state.graceDeadline == nil
            state.user = isClosed ? user.afterLock : user
        }
        startIdleTimer()
    }

    /// Opens what the passcode opens.
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

    /// Locks. The keys go when the grace of the settings is over.
    ///
    /// - Parameter immediately: without any grace.
    public func lock(immediately: Bool) {
        var deadline: UInt64?
        change { state in
            guard state.device.hasPasscode, let user = state.user else { return }
            if !state.isLocked || immediately {
                let grace = immediately ? 0 : UInt64(state.device.settings.graceSeconds) * 1_000_000_000
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

    /// Wipes what the passcode has opened, for a keychain that is not used any more. Nobody is told.
    public func forget() {
        state.withLock { state in
            (state.user, state.keyring, state.isLocked, state.graceDeadline) = (nil, nil, false, nil)
        }
    }

    private func lockIfGraceExpired(_ state: inout State) {
        guard let graceDeadline = state.graceDeadline, graceDeadline <= clock.now() else { return }
        state.user = state.user?.afterLock
        state.graceDeadline = nil
        state.keyring = nil
    }

    /// Wipes the keys when the grace is over, also if nothing is asked for any more. Without a thread that waits for it there is no grace.
    private func wipe(at deadline: UInt64) {
        let clock = clock
        let isRunning = BackgroundThread.run { [weak self] in
            while true {
                let now = clock.now()
                guard now < deadline else { break }
                // In steps: the sleep's clock stands still while the machine is suspended.
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

    /// Whether a thread waits for the keychain to be left alone.
    var isWatched: Bool { state.withLock { $0.isWatched } }

    /// The nanoseconds left until the keychain locks itself for want of use; nil where it does not.
    private func idleTimeLeft(_ state: State) -> UInt64? {
        let interval = UInt64(state.device.settings.lockInterval) * 1_000_000_000
        guard interval > 0, state.user != nil, !state.isLocked else { return nil }
        let now = clock.now()
        let idle = now > state.lastUse ? now - state.lastUse : 0
        return idle < interval ? interval - idle : 0
    }

    private func lockIfIdle() {
        guard state.withLock({ idleTimeLeft($0) == 0 }) else { return }
        change { state in
            // Somebody may have used or unlocked it since.
            guard idleTimeLeft(state) == 0 else { return }
            (state.isLocked, state.graceDeadline, state.user) = (true, nil, state.user?.afterLock)
        }
    }

    /// Sees to it that one thread locks the keychain also where nobody asks for anything any more.
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

    /// Locks what was left alone; false when there is nothing to wait for any more.
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

    /// Calls `body` with every new state, on the thread that changes it.
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
