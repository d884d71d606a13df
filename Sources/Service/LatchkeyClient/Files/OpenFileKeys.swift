// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Follows the lock of a keychain, and keeps the keys of open files until the lock closes their
/// class. A key that it does not have must be requested again: the keychain then decides.
final class OpenFileKeys: Sendable {
    private struct Entry {
        let secret: SharedSecret
        let protection: FileProtectionClass
    }

    private struct State {
        /// nil while the keychain does not tell it.
        var lock: LockState?
        /// Whether the keychain has told its state before, and does not any more.
        var isLost = false
        var entries: [UInt64: Entry] = [:]
        var next: UInt64 = 0
    }

    /// Returns the keys that follow the lock of a keychain in this process.
    static func of(_ service: any KeychainService) -> OpenFileKeys {
        latest.value.keys.withLock { latest in
            if let latest, latest.service === service { return latest }
            let fresh = OpenFileKeys(service)
            latest = fresh
            return fresh
        }
    }

    /// The one that was used last. A forked child has its own: it does not have its parent's keys.
    private static let latest = ForkLocal { Latest() }

    private final class Latest: Sendable { let keys = SystemMutex<OpenFileKeys?>(nil) }

    let service: any KeychainService
    private let state: Shared
    private let observer: Int

    /// The state that the observer refers to, so that it does not keep this object.
    private final class Shared: Sendable {
        let mutex = SystemMutex(State())

        func changed(to lock: LockState?) {
            mutex.withLock { state in
                state.isLost = lock == nil && (state.isLost || state.lock != nil)
                state.lock = lock
                state.entries = state.entries.filter { Self.isKept($0.value.protection, lock) }
            }
        }

        static func isKept(_ protection: FileProtectionClass, _ lock: LockState?) -> Bool {
            switch protection {
            case .complete: lock == .unlocked
            case .completeUntilFirstUserAuthentication: lock == .unlocked || lock == .locked
            // A handle of class B stays usable after the lock.
            case .completeUnlessOpen, .none: true
            }
        }
    }

    init(_ service: any KeychainService) {
        self.service = service
        let state = Shared()
        self.state = state
        observer = service.addLockObserver(reportsPresent: true) { state.changed(to: $0) }
    }

    deinit { service.removeLockObserver(observer) }

    /// The lock state; nil while the keychain does not tell it.
    var lock: LockState? { state.mutex.withLock { $0.lock } }

    /// Throws if latchkeyd has ended and is not there again: its keychain is locked then. A request would
    /// wait for it.
    func requireService() throws(KeychainError) {
        guard state.mutex.withLock({ $0.isLost }), service.isAway else { return }
        throw .interactionNotAllowed
    }

    /// Returns a number for ``key(_:)``.
    func register() -> UInt64 {
        state.mutex.withLock { state in
            state.next += 1
            return state.next
        }
    }

    /// Keeps a key, if the lock allows it.
    func keep(_ secret: SharedSecret, _ protection: FileProtectionClass, as number: UInt64) {
        state.mutex.withLock { state in
            guard Shared.isKept(protection, state.lock) else { return }
            state.entries[number] = Entry(secret: secret, protection: protection)
        }
    }

    /// Returns a key that is kept.
    func key(_ number: UInt64) -> SharedSecret? { state.mutex.withLock { $0.entries[number]?.secret } }

    func forget(_ number: UInt64) { state.mutex.withLock { $0.entries[number] = nil } }
}
