// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// The private presence keys of a running process.
///
/// The key of the passcode is opened by a passcode that was verified for one evaluation, and is never kept. The key of
/// biometry is kept from the unlock to the lock, only if the owner asks for it (latchkeyd does). It has no grace
/// period: the next unlock needs the passcode in any case, and opens it again.
extension LockableKeybag {
    /// Keeps the key of biometry from the next unlock on. Only a process that no other program of the user has access
    /// to may call this: with the key, it can open the items that biometry protects.
    public func keepBiometryKey() {
        state.withLock { $0.presence.keepsBiometry = true }
    }

    /// Whether a biometric match can satisfy a constraint now.
    public var holdsBiometryKey: Bool { state.withLock { !$0.presence.biometry.isEmpty } }

    /// Returns empty keys for one evaluation. The next lock wipes their content, and ends the evaluation.
    public func constraintKeys() -> ConstraintKeys {
        state.withLock { state in
            let keys = ConstraintKeys(keychain: state.device.keychain)
            state.presence.register(keys)
            return keys
        }
    }

    /// Whether the keychain was not locked since the evaluation of these keys began.
    public func isCurrent(_ keys: ConstraintKeys) -> Bool { state.withLock { $0.presence.isCurrent(keys) } }

    /// Opens the key of the passcode for one evaluation.
    ///
    /// - Parameter passcode: the key of a passcode that was verified just now.
    /// - Throws: ``KeybagError/lockedDuringEvaluation``.
    package func satisfy(_ keys: ConstraintKeys, with passcode: PasscodeKey) throws(KeybagError) {
        let opened = try device.presenceKeys(.passcode, with: passcode)
        // Within the lock, so that a lock of the keychain at the same time wipes the inserted keys.
        try insert(opened, into: keys)
    }

    /// Adds keys to an evaluation, unless the keychain was locked since it began.
    private func insert(
        _ opened: [PresencePrivateKey], into keys: ConstraintKeys, enrolledSet: EnrolledSet? = nil
    ) throws(KeybagError) {
        let isCurrent = state.withLock { state in
            guard state.presence.isCurrent(keys) else { return false }
            keys.insert(opened, enrolledSet: enrolledSet)
            return true
        }
        guard isCurrent else { throw .lockedDuringEvaluation }
    }

    /// Adds the key of biometry for one evaluation.
    ///
    /// - Parameter match: the proof that the sensor has just recognized the person.
    /// - Throws: ``KeybagError/biometryUnavailable``, ``KeybagError/lockedDuringEvaluation``.
    public func satisfy(_ keys: ConstraintKeys, with match: BiometricMatch) throws(KeybagError) {
        let held = state.withLock { $0.presence.biometry }
        guard !held.isEmpty else { throw .biometryUnavailable }
        try insert(held, into: keys, enrolledSet: match.enrolledSet)
    }

    /// Opens the key of a security key for one evaluation.
    ///
    /// - Parameters:
    ///   - secret: the secret that the device has derived after a touch: 32 bytes.
    ///   - key: the enrolled security key.
    /// - Throws: ``KeybagError/wrongSecurityKey``, ``KeybagError/lockedDuringEvaluation``.
    public func satisfy(_ keys: ConstraintKeys, with secret: SharedSecret, of key: SecurityKeyIdentifier)
        throws(KeybagError)
    {
        try insert([try device.presenceKey(of: key, secret)], into: keys)
    }

    /// Adds the key of biometry of another evaluation, because the person was recognized recently.
    ///
    /// - Throws: ``KeybagError/lockedDuringEvaluation`` if the keychain was locked since one of them
    ///   began.
    public func copyBiometry(from source: ConstraintKeys, to keys: ConstraintKeys) throws(KeybagError) {
        let isCurrent = state.withLock { state in
            guard state.presence.isCurrent(source), state.presence.isCurrent(keys) else { return false }
            source.copyBiometry(to: keys)
            return true
        }
        guard isCurrent else { throw .lockedDuringEvaluation }
    }

    /// Opens the key of biometry at an unlock, if the owner keeps it.
    ///
    /// - Parameter passcode: the key of the passcode that unlocks.
    package func openBiometry(with passcode: PasscodeKey) throws(KeybagError) {
        guard state.withLock({ $0.presence.keepsBiometry }) else { return }
        let opened = try device.presenceKeys(.biometry, with: passcode)
        state.withLock { state in
            // The keychain may have been locked since.
            guard state.lockState == .unlocked, state.user != nil else { return }
            state.presence.biometry = opened
        }
    }
}

/// The presence keys and evaluations of the process, inside the lock of their owner.
struct HeldPresence {
    var keepsBiometry = false
    fileprivate(set) var biometry: [PresencePrivateKey] = []
    private var evaluations: [WeakKeys] = []

    private struct WeakKeys {
        weak var keys: ConstraintKeys?
    }

    /// Whether the keychain was not locked since the evaluation began.
    func isCurrent(_ keys: ConstraintKeys) -> Bool { evaluations.contains { $0.keys === keys } }

    mutating func register(_ keys: ConstraintKeys) {
        evaluations.removeAll { $0.keys == nil }
        evaluations.append(WeakKeys(keys: keys))
    }

    /// Keeps the keys of the pairs in the record, also in evaluations.
    mutating func retain(in record: KeybagRecord) {
        let known = Set(record.pairs.map(\.identity))
        biometry.removeAll { !known.contains($0.identity) }
        for evaluation in evaluations { evaluation.keys?.retain(known) }
    }

    /// Wipes the key of biometry and everything that evaluations have released.
    mutating func wipe() {
        biometry = []
        for evaluation in evaluations { evaluation.keys?.invalidate() }
        evaluations = []
    }
}

extension DeviceKeybag {
    /// Opens the private keys of one kind.
    ///
    /// - Throws: ``KeybagError/wrongKey`` if the passcode is not this keybag's.
    func presenceKeys(_ kind: PresenceIdentity.Kind, with passcode: PasscodeKey) throws(KeybagError)
        -> [PresencePrivateKey]
    {
        try record.privateKeys(under: KeyEncryptionKey(device: deviceKey, passcode: passcode), kind)
    }

    /// Returns a resealer of the shares of constraints, for the current pairs. The keys that it holds are wiped with
    /// it.
    ///
    /// - Parameter evaluation: keys that also open shares, such as that of a security key.
    package func constraintResealer(with passcode: PasscodeKey, _ evaluation: ConstraintKeys?) throws(KeybagError)
        -> ConstraintResealer
    {
        ConstraintResealer(
            recipients: PresenceRecipients(record),
            opened: try openedPairs(with: passcode) + (evaluation?.presenceKeys ?? []))
    }
}

/// Seals the shares of constrained rows to the current pairs, after a change of the passcode.
package final class ConstraintResealer: Sendable {
    private let recipients: PresenceRecipients
    private let opened: [PresencePrivateKey]

    fileprivate init(recipients: PresenceRecipients, opened: [PresencePrivateKey]) {
        self.recipients = recipients
        self.opened = opened
    }

    /// Whether the shares belong to exactly the current pairs.
    package func isCurrent(_ record: ConstraintRecord) -> Bool { recipients.isCurrent(record) }

    /// Returns the record with its shares sealed to the current pairs.
    ///
    /// - Parameter item: the UUID of the item, 16 bytes.
    package func resealed(_ record: ConstraintRecord, item: [UInt8]) throws(KeybagError) -> ConstraintRecord {
        try recipients.resealed(record, item: item, opened)
    }
}

extension DeviceKeybag.RecoveryResult {
    /// Whether the constraint of a row can still be satisfied after the recovery.
    package func canSatisfy(_ record: ConstraintRecord) -> Bool { presence.canSatisfy(record) }
}
