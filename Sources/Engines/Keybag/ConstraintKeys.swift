// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// The keys that one evaluation has released: the proof that constraints are satisfied is that they
/// open. It is created empty by ``LockableKeybag/constraintKeys()`` and is filled by the functions
/// that verify a passcode, a biometric match or a security key.
///
/// The keys are wiped by ``invalidate()``, by the lock of the keychain, and with the last
/// reference. They are never part of a ``Keyring``.
public final class ConstraintKeys: Sendable {
    private struct Released {
        var presence: [PresencePrivateKey] = []
        /// The enrolled set at the time of the biometric match.
        var enrolledSet: EnrolledSet?
        var password: ApplicationPassword?
    }

    private struct State {
        /// Constraints that earlier keys opened may no longer be opened with the present ones.
        var released = Released() {
            didSet {
                opened.removeAll()
                changes &+= 1
            }
        }
        /// The opened constraints, so that the next use of an item needs no agreement of keys.
        var opened = OpenedConstraints()
        var changes: UInt64 = 0
    }

    private let keychain: [UInt8]
    private let state = SystemMutex(State())

    init(keychain: [UInt8]) { self.keychain = keychain }

    /// Why the constraints of a row yield no key.
    public enum Failure: Error, Sendable {
        /// A constraint is not satisfied.
        case notSatisfied
        /// The item is bound to another enrolled set.
        case lost
        /// The record does not authenticate or decode; the text names the problem.
        case damaged(String)
        /// The key of the application password is not known yet.
        case needsDerivation(PendingDerivation)
        case keybag(KeybagError)
    }

    /// Whether nothing is satisfied.
    public var isEmpty: Bool {
        state.withLock { $0.released.presence.isEmpty && $0.released.password == nil }
    }

    /// Adds a password of the application. A wrong one opens nothing; then it can be replaced.
    public func setApplicationPassword(_ password: ApplicationPassword?) {
        state.withLock { $0.released.password = password }
    }

    /// Wipes all keys.
    public func invalidate() {
        state.withLock { $0.released = Released() }
    }

    /// Adds opened private keys.
    func insert(_ keys: [PresencePrivateKey], enrolledSet: EnrolledSet? = nil) {
        guard !keys.isEmpty else { return }
        state.withLock { state in
            state.released.presence.removeAll { known in keys.contains { $0.identity == known.identity } }
            state.released.presence += keys
            if let enrolledSet { state.released.enrolledSet = enrolledSet }
        }
    }

    /// Wipes the private keys of all other pairs.
    func retain(_ pairs: Set<PresenceIdentity>) {
        state.withLock { state in state.released.presence.removeAll { !pairs.contains($0.identity) } }
    }

    var presenceKeys: [PresencePrivateKey] { state.withLock { $0.released.presence } }

    /// Adds the keys of biometry, and the enrolled set at their release.
    func copyBiometry(to other: ConstraintKeys) {
        let (keys, set) = state.withLock { state in
            (state.released.presence.filter { $0.identity.kind == .biometry }, state.released.enrolledSet)
        }
        other.insert(keys, enrolledSet: set)
    }

    /// The binding of an item that is stored again with these keys.
    public var binding: ConstraintBinding {
        state.withLock {
            ConstraintBinding(enrolledSet: $0.released.enrolledSet, applicationPassword: $0.released.password)
        }
    }

    /// Returns the decoded constraint of an item if these keys have opened it; nil if it must be
    /// decoded.
    ///
    /// - Parameter item: the UUID of the item, 16 bytes.
    public func opened(_ encoded: [UInt8], item: [UInt8]) -> EncodedConstraint? {
        state.withLock { $0.opened[item, encoded]?.constraint }
    }

    /// Returns the key that wraps the key of a secret half. It derives nothing from an application
    /// password.
    ///
    /// - Parameter item: the UUID of the item, 16 bytes.
    public func key(of constraint: EncodedConstraint, item: [UInt8]) throws(Failure) -> ConstraintKey {
        let record = constraint.record
        let (known, held, changes) = state.withLock {
            ($0.opened[item, constraint.encoded]?.key, $0.released, $0.changes)
        }
        if let known { return known }
        let context = ConstraintContext(keychain: keychain, item: item, revision: record.revision)
        let combined = try Self.combined(record, held, context)
        var password: SharedSecret?
        if let parameters = record.password {
            guard let given = held.password else { throw .notSatisfied }
            guard let key = given.key(parameters) else {
                throw .needsDerivation(PendingDerivation(given, parameters))
            }
            password = key
        }
        let key = ConstraintKey(context.wrappingKey(combined.copy(), password, fixedPart: record.fixedPart))
        state.withLock { if $0.changes == changes { $0.opened.insert(constraint, key, of: item) } }
        return key
    }

    /// Combines the values of the satisfied terms; no bytes if there are no terms.
    private static func combined(_ record: ConstraintRecord, _ held: Released, _ context: ConstraintContext)
        throws(Failure) -> SharedSecret
    {
        let constraints = record.constraints
        var values: [SharedSecret] = []
        var isLost = false
        for (term, shares) in zip(constraints.terms, record.shares) {
            let value: SharedSecret?
            do throws(KeybagError) {
                value = try shares.value(of: term, constraints.flags, held.presence, context)
            } catch {
                if case .damaged(let reason) = error { throw .damaged(reason) }
                throw .keybag(error)
            }
            guard let value else { continue }
            guard term == .biometryCurrentSet else {
                values.append(value)
                continue
            }
            // A set of another source neither opens the item nor shows that it is lost.
            guard let set = held.enrolledSet, record.enrolledSetCheck.first == set.source.rawValue else { continue }
            let unmasked = context.masked(value.copy(), with: set)
            guard context.enrolledSetCheck(unmasked) == Array(record.enrolledSetCheck.dropFirst()) else {
                isLost = true
                continue
            }
            values.append(SharedSecret(unmasked))
        }
        // If one of several terms suffices, the others can still be satisfied.
        if isLost, constraints.threshold == .all { throw .lost }
        switch constraints.threshold {
        case .one:
            guard let value = values.first else { throw .notSatisfied }
            return value
        case .all:
            guard values.count == constraints.terms.count else { throw .notSatisfied }
            guard let first = values.first else { return SharedSecret(SecretBytes(count: 0) { _ in }) }
            return values.dropFirst().reduce(first) { SharedSecret($0.copy().exclusiveOr($1.copy())) }
        }
    }
}
