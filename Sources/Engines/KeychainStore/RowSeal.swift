// SPDX-License-Identifier: Apache-2.0

internal import struct Crypto.SymmetricKey
internal import Keybag
internal import KeychainModel
internal import SecretMemory

/// Seals records into rows, and opens rows into records.
///
/// A half is `wrapped key(40) ‖ nonce(12) ‖ ciphertext ‖ tag(16)`, under a new key at every write.
/// Its additional data names its row and half (Documentation/Formats/keychain-database.md,
/// "Additional data"). After opening, every token is computed again and compared. So a row that was
/// copied, spliced, moved or renamed does not open.
struct RowSeal {
    let keyring: any ItemKeyWrapping
    let tokens: SearchTokens
    /// The start of all additional data.
    private let additionalDataStart: [UInt8]

    /// Creates a seal for one transaction.
    init(keyring: any ItemKeyWrapping) {
        self.keyring = keyring
        tokens = SearchTokens(keyring)
        var start: [UInt8] = []
        start.reserveCapacity(64)
        for part in [Self.label, keyring.keychain, Self.format] {
            start.append(UInt8(part.count))
            start += part
        }
        additionalDataStart = start
    }

    /// Why a row does not open.
    enum Failure: Error {
        /// The row does not authenticate or decode.
        case damaged(RowDamage)
        /// The class of the row is locked or has no key.
        case closed(KeybagError)
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
        let group = tokens.group(record.accessGroup)
        let secrets = SecretsCoding.encode(record.secrets ?? ItemSecrets())
        let metadata = MetadataCoding.encode(record)
        let sealedMetadata = try metadata.withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try seal(UnsafeRawBufferPointer(bytes), half: .metadata, clear: clear, group: group)
        }
        let sealedSecret = try secrets.withUnsafeBytes { (bytes) throws(StoreError) in
            try seal(bytes, half: .secret, clear: clear, group: group)
        }
        return ItemRow(
            position: position, clear: clear, primaryKey: .token(tokens.primaryKey(of: record, group: group)),
            accessGroup: .token(group),
            tokens: tokens.columns(of: record), metadata: sealedMetadata, secret: sealedSecret)
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
        _ content: UnsafeRawBufferPointer, half: RowHalf, clear: ClearColumns, group: SearchToken
    ) throws(StoreError) -> [UInt8] {
        let key = SymmetricKey(size: .bits256)
        let wrapped: [UInt8]
        do {
            wrapped = try keyring.wrap(key, of: half, protection: clear.protection, generation: clear.generation)
        } catch {
            throw .keybag(error)
        }
        return try wrapped + RowCryptography.seal(content, key: key, additionalData: additionalData(half, clear, group))
    }

    // MARK: Opening

    /// Returns the verified record of a row, without its secrets. Needs no key of the secret half.
    func open(_ row: ItemRow) throws(Failure) -> ItemRecord {
        try open(row) { (fields) throws(RowDamage) in try fields.record() }
    }

    /// Calls `body` with the verified fields of a row's metadata half, which are valid during the
    /// call.
    func open<Result>(_ row: ItemRow, _ body: (MetadataFields) throws(RowDamage) -> Result) throws(Failure) -> Result {
        try open(row.metadata, half: .metadata, row: row) { (bytes) throws(RowDamage) in
            let fields = try MetadataFields(bytes, clear: row.clear)
            try verifyTokens(of: row, against: fields)
            return try body(fields)
        }
    }

    /// Returns the secrets of a row.
    func openSecrets(of row: ItemRow) throws(Failure) -> ItemSecrets {
        let itemClass = row.clear.itemClass
        return try open(row.secret, half: .secret, row: row) { (bytes) throws(RowDamage) in
            try SecretsCoding.decode(bytes, of: itemClass)
        }
    }

    /// Returns the record of a row with its secrets.
    func openWhole(_ row: ItemRow) throws(Failure) -> ItemRecord {
        var record = try open(row)
        record.secrets = try openSecrets(of: row)
        return record
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

    private func open<Result>(
        _ sealed: [UInt8], half: RowHalf, row: ItemRow, _ body: (UnsafeRawBufferPointer) throws(RowDamage) -> Result
    ) throws(Failure) -> Result {
        guard sealed.count > Self.wrappedKeyLength else { throw .damaged(RowDamage("a row half is truncated")) }
        let key: SymmetricKey
        do {
            key = try keyring.unwrap(
                sealed[..<Self.wrappedKeyLength], of: half, protection: row.clear.protection,
                generation: row.clear.generation)
        } catch .wrongKey {
            throw .damaged(RowDamage("the key of a row half does not unwrap"))
        } catch {
            throw .closed(error)
        }
        guard case .token(let group) = row.accessGroup else {
            throw .damaged(RowDamage("the access group token has the wrong length"))
        }
        do {
            return try RowCryptography.open(
                sealed[Self.wrappedKeyLength...], key: key,
                additionalData: additionalData(half, row.clear, group), body)
        } catch {
            throw .damaged(error)
        }
    }

    // MARK: Additional data

    /// Returns the data that identifies a half, each part after its length in one byte.
    private func additionalData(_ half: RowHalf, _ clear: ClearColumns, _ group: SearchToken) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        bytes += additionalDataStart
        bytes.append(16)
        bytes += clear.identifier.bytes
        Self.append(1, UInt64(clear.itemClass.number), to: &bytes)
        Self.append(1, UInt64(clear.protection.number), to: &bytes)
        Self.append(4, UInt64(clear.generation), to: &bytes)
        bytes.append(16)
        bytes.append(group)
        Self.append(1, clear.isSynchronizable ? 1 : 0, to: &bytes)
        Self.append(1, clear.isTombstone ? 1 : 0, to: &bytes)
        Self.append(8, clear.revision, to: &bytes)
        Self.append(1, UInt64(half.rawValue), to: &bytes)
        return bytes
    }

    /// Appends the length of a number in bytes, and the number, the most significant byte first.
    private static func append(_ count: UInt64, _ number: UInt64, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: count))
        for place in 1...count { bytes.append(UInt8(truncatingIfNeeded: number >> ((count - place) &* 8))) }
    }

    private static let label = Array("latchkey v1 item".utf8)
    private static let format: [UInt8] = [0, 1]
    private static let wrappedKeyLength = 40
}
