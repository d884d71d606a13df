// SPDX-License-Identifier: Apache-2.0

internal import struct Crypto.SymmetricKey
internal import Keybag
internal import KeychainModel
internal import SecretMemory

/// Rows with constraints. The class key wraps the key of the secret half only as the constraint key
/// has wrapped it: `KW(class key, KW(constraint key, key))`, 48 bytes.
///
/// The additional data of the metadata half contains the digest of the whole constraint record; that
/// of the secret half the digest of its fixed part, so that shares can be sealed to other pairs
/// without opening the secret half.
extension RowSeal {
    /// The constraint of a row, decoded; nil for a row without one.
    func constraint(of row: ItemRow) throws(Failure) -> EncodedConstraint? {
        guard let bytes = row.constraint else { return nil }
        if let known = use.keys?.opened(bytes, item: row.clear.identifier.bytes) { return known }
        do {
            return try EncodedConstraint(decoding: bytes)
        } catch {
            guard case .damaged(let reason) = error else { throw .closed(error) }
            throw .damaged(RowDamage(reason))
        }
    }

    /// Creates the constraint of a record; nil if its flags have none.
    func sealedConstraint(of record: ItemRecord, revision: UInt64) throws(StoreError) -> SealedConstraint? {
        guard let flags = record.accessControlFlags, flags.hasConstraints else { return nil }
        let constraints: AccessConstraints?
        do {
            constraints = try AccessConstraints.parse(flags)
        } catch {
            throw .refused(error)
        }
        guard let constraints else { return nil }
        guard columns.hasConstraint else {
            // SQLITE_FULL: the tables were not migrated when the keychain was opened.
            throw .database(code: 13, message: "the tables have no column for constraints yet")
        }
        do {
            return try keyring.presence.seal(
                constraints, item: record.identifier.bytes, revision: revision, use.currentBinding)
        } catch {
            guard case .derivationNeeded(let derivation) = error else { throw .keybag(error) }
            pending.insert(derivation)
            throw .derivationPending
        }
    }

    // MARK: Opening

    /// Opens the key of a constrained secret half.
    ///
    /// - Throws: ``Failure/needsAuthentication(_:)``, ``Failure/lost(_:)``,
    ///   ``Failure/wrongApplicationPassword(_:)``, ``Failure/derivationPending``; before these, the
    ///   error of a locked class.
    func constrainedKey(of row: ItemRow, _ constraint: EncodedConstraint) throws(Failure) -> SymmetricKey {
        let record = constraint.record
        let wrapped = try constraintWrapped(row)
        guard let keys = use.keys else { throw .needsAuthentication(record.constraints) }
        let key: ConstraintKey
        do throws(ConstraintKeys.Failure) {
            key = try keys.key(of: constraint, item: row.clear.identifier.bytes)
        } catch {
            switch error {
            case .notSatisfied: throw .needsAuthentication(record.constraints)
            case .lost: throw .lost(record.constraints)
            case .damaged(let reason): throw .damaged(RowDamage(reason))
            case .keybag(let error): throw .closed(error)
            case .needsDerivation(let derivation):
                pending.insert(derivation)
                throw .derivationPending
            }
        }
        do throws(KeybagError) {
            return try key.unwrap(wrapped)
        } catch {
            guard record.constraints.requiresApplicationPassword else {
                throw .damaged(RowDamage("the constraint does not unwrap the key of the secret half"))
            }
            throw .wrongApplicationPassword(record.constraints)
        }
    }

    /// Removes the wrapping of the class key: the remaining bytes open only with the constraint.
    private func constraintWrapped(_ row: ItemRow) throws(Failure) -> [UInt8] {
        let length = RowSeal.constrainedKeyLength
        guard row.secret.count > length else { throw .damaged(RowDamage("a row half is truncated")) }
        let inner = try unwrap(row.secret[..<length], of: .secret, row.clear)
        return inner.withUnsafeBytes { Array($0) }
    }

    /// Returns the record of a row, after checking everything that can be checked without its
    /// constraint. It has its secrets if the row has no constraint.
    func verify(_ row: ItemRow) throws(Failure) -> ItemRecord {
        guard row.constraint != nil else { return try openWhole(row) }
        let record = try open(row)
        _ = try constraintWrapped(row)
        return record
    }

    // MARK: Resealing

    /// Returns a constrained row under the newest class keys and presence pairs; nil if it is. The
    /// secret half stays sealed: neither the person nor the application password is needed.
    func resealIfNeeded(_ row: ItemRow, _ resealer: ConstraintResealer) throws(Failure) -> ItemRow? {
        guard let old = try constraint(of: row)?.record else {
            throw .damaged(RowDamage("the row has no constraint"))
        }
        let record = try open(row)
        let inner = try constraintWrapped(row)
        var resealed = row
        resealed.clear.revision += 1
        do throws(KeybagError) {
            let identifier = row.clear.identifier.bytes
            let new = resealer.isCurrent(old) ? old : try resealer.resealed(old, item: identifier)
            resealed.clear.generation = try keyring.currentGeneration(of: row.clear.protection)
            if new == old, resealed.clear.generation == row.clear.generation { return nil }
            resealed.constraint = new.encoded
            let wrapped = try keyring.wrap(
                SymmetricKey(data: inner), of: .secret, protection: row.clear.protection,
                generation: resealed.clear.generation)
            resealed.secret = wrapped + row.secret[RowSeal.constrainedKeyLength...]
            resealed.metadata = try metadata(of: record, resealed.clear, new)
            resealed.lookup = tokens.lookup(of: record)
        } catch {
            if case .damaged(let reason) = error { throw .damaged(RowDamage(reason)) }
            throw .closed(error)
        }
        return resealed
    }

    private func metadata(of record: ItemRecord, _ clear: ClearColumns, _ constraint: ConstraintRecord)
        throws(KeybagError) -> [UInt8]
    {
        do throws(StoreError) {
            let place = Place(
                clear: clear, group: tokens.group(record.accessGroup), constraint: EncodedConstraint(constraint))
            return try sealMetadata(of: record, place)
        } catch {
            if case .keybag(let error) = error { throw error }
            throw .cryptographyFailed("the metadata half could not be sealed")
        }
    }
}
