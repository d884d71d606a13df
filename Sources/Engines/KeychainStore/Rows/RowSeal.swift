// SPDX-License-Identifier: Apache-2.0

internal import struct Crypto.SymmetricKey
internal import Keybag
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// Seals records into rows, and opens rows into records.
///
/// A half is `wrapped key(40) ‖ nonce(12) ‖ ciphertext ‖ tag(16)`, under a new key at every write;
/// the wrapped key of a secret half with a constraint has 48 bytes (RowSeal+Constraints.swift).
/// Its additional data names its row and half (Documentation/Formats/keychain-database.md,
/// "Additional data"). After opening, every token is computed again and compared. So a row that was
/// copied, spliced, moved or renamed does not open.
struct RowSeal {
    let keyring: any ItemKeyWrapping
    let tokens: SearchTokens
    /// The columns of the tables in this transaction.
    let columns: RowColumns
    let use: ConstraintUse
    /// Collects the keys that this access to the database lacks.
    let pending: PendingDerivations
    /// The parts of the additional data that all rows have.
    private let additionalDataStart: [UInt8]

    /// Creates a seal for one transaction.
    init(
        keyring: any ItemKeyWrapping, columns: RowColumns = .newest,
        use: ConstraintUse = .none, pending: PendingDerivations = PendingDerivations()
    ) {
        self.keyring = keyring
        self.columns = columns
        self.use = use
        self.pending = pending
        tokens = SearchTokens(keyring)
        var start: [UInt8] = []
        start.reserveCapacity(64)
        for part in [Self.label, keyring.keychain] {
            start.append(UInt8(part.count))
            start += part
        }
        additionalDataStart = start
    }

    /// Returns the seal of the same transaction with other keys and constraints.
    func with(_ keyring: any ItemKeyWrapping, _ use: ConstraintUse = .none) -> RowSeal {
        RowSeal(keyring: keyring, columns: columns, use: use, pending: pending)
    }

    /// Why a row does not open.
    enum Failure: Error {
        /// The row does not authenticate or decode.
        case damaged(RowDamage)
        /// The class of the row is locked or has no key.
        case closed(KeybagError)
        /// The secret half opens only when these constraints are satisfied.
        case needsAuthentication(AccessConstraints)
        /// The item was bound to another enrolled set.
        case lost(AccessConstraints)
        case wrongApplicationPassword(AccessConstraints)
        /// A key of the application password must be derived, after this access to the database.
        case derivationPending
    }

    /// The columns that a half is bound to.
    struct Place {
        var clear: ClearColumns
        var group: SearchToken
        var constraint: EncodedConstraint?
    }

    // MARK: Sealing

    /// Returns a row for the record, with both halves newly sealed. The record must have its
    /// secrets.
    func seal(_ record: ItemRecord, revision: UInt64, position: Int64 = 0) throws(StoreError) -> ItemRow {
        let clear = ClearColumns(
            identifier: record.identifier, itemClass: record.itemClass, protection: record.protection,
            generation: try generation(for: record.protection), revision: revision,
            isSynchronizable: record.isSynchronizable,
            isTombstone: record.isTombstone)
        guard columns.hasLookup || (record.storedLookup == nil && record.contentType == nil) else {
            // SQLITE_FULL: the tables were not migrated when the keychain was opened.
            throw .database(code: 13, message: "the tables have no lookup attributes yet")
        }
        let group = tokens.group(record.accessGroup)
        let constraint = try sealedConstraint(of: record, revision: revision)
        let encoded = constraint.map { EncodedConstraint($0.record) }
        let place = Place(clear: clear, group: group, constraint: encoded)
        let secrets = SecretsCoding.encode(record.secrets ?? ItemSecrets())
        let sealedMetadata = try sealMetadata(of: record, place)
        let sealedSecret = try secrets.withUnsafeBytes { (bytes) throws(StoreError) in
            try seal(bytes, half: .secret, place, constraint?.key)
        }
        return ItemRow(
            position: position, clear: clear, primaryKey: .token(tokens.primaryKey(of: record, group: group)),
            accessGroup: .token(group),
            tokens: tokens.columns(of: record), metadata: sealedMetadata, secret: sealedSecret,
            constraint: encoded?.encoded, lookup: columns.hasLookup ? tokens.lookup(of: record) : [])
    }

    func sealMetadata(of record: ItemRecord, _ place: Place) throws(StoreError) -> [UInt8] {
        try MetadataCoding.encode(record).withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try seal(UnsafeRawBufferPointer(bytes), half: .metadata, place)
        }
    }

    /// Throws if the class is locked or has no key.
    func requireOpen(_ protection: ProtectionClass) throws(StoreError) {
        _ = try generation(for: protection)
    }

    private func generation(for protection: ProtectionClass) throws(StoreError) -> UInt32 {
        do {
            return try keyring.currentGeneration(of: protection)
        } catch {
            throw .keybag(error)
        }
    }

    private func seal(
        _ content: UnsafeRawBufferPointer, half: RowHalf, _ place: Place, _ constraint: ConstraintKey? = nil
    ) throws(StoreError) -> [UInt8] {
        let key = RowCryptography.randomKey()
        var sealed: [UInt8]
        do throws(KeybagError) {
            let inner = try constraint.map { (constraint) throws(KeybagError) in
                SymmetricKey(data: try constraint.wrap(key))
            }
            sealed = try keyring.wrap(
                inner ?? key, of: half, protection: place.clear.protection, generation: place.clear.generation)
        } catch {
            throw .keybag(error)
        }
        try RowCryptography.seal(
            content, key: key, additionalData: additionalData(half, place), appendingTo: &sealed)
        return sealed
    }

    // MARK: Opening

    /// Returns the verified record of a row, without its secrets. Needs no key of the secret half.
    func open(_ row: ItemRow) throws(Failure) -> ItemRecord {
        let constraint = try constraint(of: row)
        var record = try open(row, constraint) { (fields) throws(RowDamage) in try fields.record() }
        record.needsAuthentication = constraint?.record.constraints
        return record
    }

    /// Calls `body` with the verified fields of a row's metadata half. They are valid during the call.
    ///
    /// - Parameter constraint: that of the row.
    func open<Result>(
        _ row: ItemRow, _ constraint: EncodedConstraint?, _ body: (MetadataFields) throws(RowDamage) -> Result
    ) throws(Failure) -> Result {
        let key = try unwrapKey(of: row.metadata, half: .metadata, row)
        let sealed = row.metadata[Self.wrappedKeyLength...]
        return try open(sealed, half: .metadata, row, constraint, key) { (bytes) throws(RowDamage) in
            let fields = try MetadataFields(bytes, clear: row.clear)
            try verifyTokens(of: row, against: fields)
            try Self.verifyFlags(of: fields.bareRecord, constraint?.record)
            return try body(fields)
        }
    }

    /// Returns the secrets of a row. If it has a constraint, the metadata half must have been opened
    /// before: it authenticates the constraint.
    func openSecrets(of row: ItemRow) throws(Failure) -> ItemSecrets {
        try openSecrets(of: row, try constraint(of: row))
    }

    /// - Parameter constraint: that of the row.
    func openSecrets(of row: ItemRow, _ constraint: EncodedConstraint?) throws(Failure) -> ItemSecrets {
        let itemClass = row.clear.itemClass
        let key: SymmetricKey
        let length: Int
        if let constraint {
            (key, length) = (try constrainedKey(of: row, constraint), Self.constrainedKeyLength)
        } else {
            (key, length) = (try unwrapKey(of: row.secret, half: .secret, row), Self.wrappedKeyLength)
        }
        return try open(row.secret[length...], half: .secret, row, constraint, key) { (bytes) throws(RowDamage) in
            try SecretsCoding.decode(bytes, of: itemClass)
        }
    }

    /// Returns the record of a row with its secrets.
    func openWhole(_ row: ItemRow) throws(Failure) -> ItemRecord {
        var record = try open(row)
        record.secrets = try openSecrets(of: row)
        record.needsAuthentication = nil
        return record
    }

    /// The flags of the access control decide about prompts, so they must be those of the
    /// constraint.
    private static func verifyFlags(of record: ItemRecord, _ constraint: ConstraintRecord?) throws(RowDamage) {
        if let constraint {
            guard record.accessControlFlags == constraint.constraints.flags else {
                throw RowDamage("the access control flags do not match the constraint")
            }
        } else if record.accessControlFlags?.hasConstraints == true {
            throw RowDamage("the constraint of the access control flags is missing")
        }
    }

    private func verifyTokens(of row: ItemRow, against fields: MetadataFields) throws(RowDamage) {
        let group = tokens.group(fields.bareRecord.accessGroup)
        guard row.accessGroup == .token(group) else {
            throw RowDamage("the access group token does not match the access group")
        }
        guard tokens.match(fields, row.tokens) else {
            throw RowDamage("a search token does not match its value")
        }
        guard row.primaryKey == .token(tokens.primaryKey(of: fields, group: group)) else {
            throw RowDamage("the primary key token does not match the values")
        }
    }

    private func unwrapKey(of sealed: [UInt8], half: RowHalf, _ row: ItemRow) throws(Failure) -> SymmetricKey {
        guard sealed.count > Self.wrappedKeyLength else { throw .damaged(RowDamage("a row half is truncated")) }
        return try unwrap(sealed[..<Self.wrappedKeyLength], of: half, row.clear)
    }

    /// Removes the wrapping of the class key.
    func unwrap(_ wrapped: ArraySlice<UInt8>, of half: RowHalf, _ clear: ClearColumns) throws(Failure) -> SymmetricKey {
        do {
            return try keyring.unwrap(
                wrapped, of: half, protection: clear.protection, generation: clear.generation)
        } catch .wrongKey {
            throw .damaged(RowDamage("the key of a row half does not unwrap"))
        } catch {
            throw .closed(error)
        }
    }

    private func open<Result>(
        _ sealed: ArraySlice<UInt8>, half: RowHalf, _ row: ItemRow, _ constraint: EncodedConstraint?,
        _ key: SymmetricKey, _ body: (UnsafeRawBufferPointer) throws(RowDamage) -> Result
    ) throws(Failure) -> Result {
        guard case .token(let group) = row.accessGroup else {
            throw .damaged(RowDamage("the access group token has the wrong length"))
        }
        do {
            let place = Place(clear: row.clear, group: group, constraint: constraint)
            return try RowCryptography.open(sealed, key: key, additionalData: additionalData(half, place), body)
        } catch {
            throw .damaged(error)
        }
    }

    // MARK: Additional data

    /// Returns the data that identifies a half, each part after its length in one byte.
    ///
    /// With a constraint, the format is another one and the last part is a digest of the constraint record: of all of
    /// it in the metadata half; of its fixed part in the secret half. The secret half is bound to its revision at
    /// sealing and to no generation.
    private func additionalData(_ half: RowHalf, _ place: Place) -> [UInt8] {
        var clear = place.clear
        if half == .secret, let constraint = place.constraint {
            (clear.generation, clear.revision) = (0, constraint.record.revision)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(144)
        bytes += additionalDataStart
        bytes.append(2)
        bytes.append(bigEndian: place.constraint == nil ? Self.format : Self.constrainedFormat)
        bytes.append(16)
        bytes += clear.identifier.bytes
        Self.append(clear.itemClass.number, to: &bytes)
        Self.append(clear.protection.number, to: &bytes)
        bytes.append(4)
        bytes.append(bigEndian: clear.generation)
        bytes.append(16)
        bytes.append(place.group)
        Self.append(clear.isSynchronizable ? 1 : 0, to: &bytes)
        Self.append(clear.isTombstone ? 1 : 0, to: &bytes)
        bytes.append(8)
        bytes.append(bigEndian: clear.revision)
        Self.append(half.rawValue, to: &bytes)
        if let constraint = place.constraint {
            let digest = half == .metadata ? constraint.digest : constraint.fixedDigest
            bytes.append(UInt8(digest.count))
            bytes += digest
        }
        return bytes
    }

    /// Appends a number of one byte, after its length.
    private static func append(_ number: UInt8, to bytes: inout [UInt8]) {
        bytes.append(1)
        bytes.append(number)
    }

    private static let label = Array("latchkey v1 item".utf8)
    private static let format: UInt16 = 1
    private static let constrainedFormat: UInt16 = 2
    private static let wrappedKeyLength = 40
    /// The wrapped key of a secret half with a constraint.
    static let constrainedKeyLength = 48
}
