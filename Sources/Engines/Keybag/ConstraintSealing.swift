// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// The public keys that the shares of constrained rows are sealed to. They need no person.
public struct PresenceRecipients: Sendable {
    let keychain: [UInt8]
    let hasPasscode: Bool
    /// Whether a program that knows no constraints can still use the keychain: its keybag has an
    /// earlier version.
    private let isOutdated: Bool
    let pairs: [PresencePair]
    /// The current pairs, and those of earlier generations with shares that are not yet sealed again.
    private let known: Set<PresenceIdentity>

    init(_ record: KeybagRecord) {
        keychain = record.keychain
        hasPasscode = record.passcode != nil
        isOutdated = record.storedVersion < KeybagRecord.commonVersion
        pairs = record.currentPairs
        known = Set(record.pairs.map(\.identity))
    }

    /// The pairs that open shares of a term.
    func recipients(of term: AccessConstraint) -> [PresencePair] {
        pairs.filter { $0.identity.satisfies(term) }
    }
}

/// A new constraint of a row, with the key that it yields when it is satisfied.
public struct SealedConstraint: Sendable {
    public let record: ConstraintRecord
    /// Wraps the key of the secret half.
    public let key: ConstraintKey
}

/// The key that satisfied constraints yield for one secret half. Only ``PresenceRecipients`` and
/// ``ConstraintKeys`` create it.
public final class ConstraintKey: Sendable {
    let secret: SecretBytes

    init(_ secret: consuming SecretBytes) { self.secret = secret }
}

// MARK: Sealing

extension PresenceRecipients {
    /// Creates the constraint of a row.
    ///
    /// - Parameters:
    ///   - item: the UUID of the item, 16 bytes.
    ///   - revision: the revision of the row that is written.
    /// - Throws: ``KeybagError/constraintNeedsPasscode(_:)``,
    ///   ``KeybagError/presenceKeyMissing(_:)``, ``KeybagError/olderKeybag``,
    ///   ``KeybagError/enrolledSetNeeded``,
    ///   ``KeybagError/applicationPasswordNeeded``, ``KeybagError/derivationNeeded(_:)``.
    public func seal(
        _ constraints: AccessConstraints, item: [UInt8], revision: UInt64, _ binding: ConstraintBinding
    ) throws(KeybagError) -> SealedConstraint {
        for term in constraints.terms { try requireRecipients(of: term) }
        // A running program of an earlier version would take the row for a damaged one. It refuses
        // a keybag of a newer version.
        guard !isOutdated else { throw .olderKeybag }
        let context = ConstraintContext(keychain: keychain, item: item, revision: revision)
        var password: (parameters: PasscodeParameters, key: SharedSecret)?
        if constraints.requiresApplicationPassword {
            guard let given = binding.applicationPassword else { throw .applicationPasswordNeeded }
            guard let key = given.key(given.sealingParameters) else {
                throw .derivationNeeded(PendingDerivation(given, given.sealingParameters))
            }
            password = (given.sealingParameters, key)
        }
        var set: EnrolledSet?
        if constraints.terms.contains(.biometryCurrentSet) {
            guard let enrolled = binding.enrolledSet else { throw .enrolledSetNeeded }
            set = enrolled
        }
        let count = constraints.terms.isEmpty ? 0 : ConstraintRecord.shareLength
        let combined = SecretBytes.random(count: count)
        var shares: [[ConstraintRecord.Share]] = []
        var check: [UInt8] = []
        for (term, value) in zip(constraints.terms, Self.split(combined, constraints)) {
            var value = value
            if term == .biometryCurrentSet, let set {
                check = [set.source.rawValue] + context.enrolledSetCheck(value.copy())
                value = SharedSecret(context.masked(value.copy(), with: set))
            }
            shares.append(try seal(value, of: term, constraints.flags, context))
        }
        let record = ConstraintRecord(
            constraints: constraints, revision: revision,
            enrolledSetCheck: check, password: password?.parameters, shares: shares)
        let key = context.wrappingKey(combined, password?.key, fixedPart: record.fixedPart)
        return SealedConstraint(record: record, key: ConstraintKey(key))
    }

    private func requireRecipients(of term: AccessConstraint) throws(KeybagError) {
        if term != .securityKey, !hasPasscode { throw .constraintNeedsPasscode(term) }
        if recipients(of: term).isEmpty { throw .presenceKeyMissing(term) }
    }

    /// Returns the value of each term: the key itself if one term suffices, otherwise random values with the key as
    /// their exclusive or.
    private static func split(_ key: borrowing SecretBytes, _ constraints: AccessConstraints) -> [SharedSecret] {
        guard constraints.threshold == .all else { return constraints.terms.map { _ in SharedSecret(key.copy()) } }
        var values: [SharedSecret] = []
        var rest = key.copy()
        for _ in constraints.terms.dropLast() {
            let value = SecretBytes.random(count: key.count)
            rest = rest.exclusiveOr(value)
            values.append(SharedSecret(value))
        }
        return constraints.terms.isEmpty ? [] : values + [SharedSecret(rest)]
    }

    /// Seals the value of a term to every pair that satisfies it.
    private func seal(
        _ value: SharedSecret, of term: AccessConstraint, _ flags: AccessControlFlags, _ context: ConstraintContext
    ) throws(KeybagError) -> [ConstraintRecord.Share] {
        var shares: [ConstraintRecord.Share] = []
        for pair in recipients(of: term) {
            do {
                let info = context.shareInfo(flags, term, pair.identity)
                let sealed = try HPKE.seal(value.copy(), to: pair.publicKey, info: info)
                shares.append(ConstraintRecord.Share(recipient: pair.identity, sealed: sealed))
            } catch {
                throw .cryptographyFailed(error.message)
            }
        }
        return shares
    }
}

// MARK: Resealing

extension PresenceRecipients {
    /// Whether the shares of a record belong to exactly the current pairs.
    func isCurrent(_ record: ConstraintRecord) -> Bool {
        zip(record.constraints.terms, record.shares).allSatisfy { term, shares in
            Set(shares.map(\.recipient)) == Set(recipients(of: term).map(\.identity))
        }
    }

    /// Returns the record with its shares sealed to the current pairs. The key that they yield stays the same, so the
    /// secret half need not be opened. A term without a share that opens keeps its shares for pairs that exist.
    ///
    /// - Parameter opened: the private keys that the passcode opens, and those of security keys
    ///   that were touched.
    func resealed(_ record: ConstraintRecord, item: [UInt8], _ opened: [PresencePrivateKey]) throws(KeybagError)
        -> ConstraintRecord
    {
        let constraints = record.constraints
        let context = ConstraintContext(keychain: keychain, item: item, revision: record.revision)
        var values: [SharedSecret?] = []
        for (term, shares) in zip(constraints.terms, record.shares) {
            values.append(try shares.value(of: term, constraints.flags, opened, context))
        }
        // If one term suffices, all have the same value; only that of biometryCurrentSet is masked.
        let common =
            constraints.threshold == .one
            ? zip(constraints.terms, values).first { $0 != .biometryCurrentSet && $1 != nil }?.1 : nil
        var resealed = record
        for (index, term) in constraints.terms.enumerated() {
            let value = values[index] ?? (term == .biometryCurrentSet ? nil : common)
            if let value, !recipients(of: term).isEmpty {
                resealed.shares[index] = try seal(value, of: term, constraints.flags, context)
            } else {
                let existing = record.shares[index].filter { known.contains($0.recipient) }
                if !existing.isEmpty { resealed.shares[index] = existing }
            }
        }
        return resealed
    }

    /// Whether the pairs still satisfy the constraints of a record.
    func canSatisfy(_ record: ConstraintRecord) -> Bool {
        let isOpen = record.shares.map { shares in shares.contains { known.contains($0.recipient) } }
        guard !isOpen.isEmpty else { return true }
        return record.constraints.threshold == .one ? isOpen.contains(true) : !isOpen.contains(false)
    }
}

extension [ConstraintRecord.Share] {
    /// Returns the value that one of the private keys opens; nil if none of the shares is sealed to
    /// one of them.
    ///
    /// - Throws: ``KeybagError/damaged(_:)`` if a share is sealed to a key, but does not open.
    func value(
        of term: AccessConstraint, _ flags: AccessControlFlags, _ keys: [PresencePrivateKey],
        _ context: ConstraintContext
    ) throws(KeybagError) -> SharedSecret? {
        for share in self {
            guard let key = keys.first(where: { $0.identity == share.recipient }) else { continue }
            let value: SharedSecret?
            do {
                let info = context.shareInfo(flags, term, share.recipient)
                value = try HPKE.open(share.sealed, with: key.secret, publicKey: key.publicKey, info: info)
            } catch {
                throw .cryptographyFailed(error.message)
            }
            guard let value, value.count == ConstraintRecord.shareLength else {
                throw .damaged("a share of a constraint does not open")
            }
            return value
        }
        return nil
    }
}
