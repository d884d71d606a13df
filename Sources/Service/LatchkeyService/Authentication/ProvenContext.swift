// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem
internal import SecretMemory

/// The factors that were proven in one authentication context. The lock of the keychain wipes them, except for an
/// application password that the program has set.
final class ProvenContext: Sendable {
    private struct State {
        /// Replaced after a lock, because the lock ends the keys.
        var keys: ConstraintKeys
        var factors: Set<Factor> = []
        var password: ApplicationPassword?
        /// How many application passwords were wrong since the last right one.
        var wrongPasswords = 0
        var hasEnded = false
    }

    /// A factor that the person has proven.
    enum Factor: Hashable {
        case passcode
        case biometry
        /// - Parameter satisfiesUserPresence: whether the key was enrolled for this, too.
        case securityKey(satisfiesUserPresence: Bool)

        func satisfies(_ term: AccessConstraint) -> Bool {
            switch (self, term) {
            case (.passcode, .devicePasscode), (.passcode, .userPresence): true
            case (.biometry, .userPresence), (.biometry, .biometryAny), (.biometry, .biometryCurrentSet): true
            case (.securityKey, .securityKey): true
            case (.securityKey(let satisfiesUserPresence), .userPresence): satisfiesUserPresence
            default: false
            }
        }
    }

    private let store: KeychainStore
    private let state: SystemMutex<State>

    init(_ store: KeychainStore) {
        self.store = store
        state = SystemMutex(State(keys: store.constraintKeys()))
    }

    /// The keys for the calls that use this context.
    var keys: ConstraintKeys {
        state.withLock { state in
            if !store.isCurrent(state.keys) {
                state.keys = store.constraintKeys()
                state.factors = []
                state.keys.setApplicationPassword(state.password)
            }
            return state.keys
        }
    }

    /// Whether the context has ended; then nothing is added to it.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func satisfies(_ term: AccessConstraint) -> Bool {
        _ = keys
        return state.withLock { state in state.factors.contains { $0.satisfies(term) } }
    }

    /// Records a factor that the keys were given.
    ///
    /// - Parameter keys: those that ``keys`` returned before.
    func add(_ factor: Factor, to keys: ConstraintKeys) {
        state.withLock { state in if state.keys === keys, !state.hasEnded { state.factors.insert(factor) } }
    }

    // MARK: Application password

    var hasPassword: Bool { state.withLock { $0.password != nil } }
    /// How many application passwords were wrong since the last right one.
    var wrongPasswords: Int { state.withLock { $0.wrongPasswords } }

    func setPassword(_ password: ApplicationPassword?) {
        let keys = keys
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.password = password
            keys.setApplicationPassword(password)
        }
    }

    /// Records whether the password was right in a call. A wrong one is removed, so that the person is asked for
    /// another one (keychain-behaviour §5.4).
    func passwordWas(right: Bool) {
        guard !right else { return state.withLock { $0.wrongPasswords = 0 } }
        state.withLock { state in
            state.password = nil
            state.keys.setApplicationPassword(nil)
            state.wrongPasswords += 1
        }
    }

    /// The password that new items are bound to.
    var password: ApplicationPassword? { state.withLock { $0.password } }

    /// Wipes everything.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.factors = []
            state.password = nil
            state.keys.invalidate()
        }
    }
}
