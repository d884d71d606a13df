// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import Keybag
public import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import SQLiteConnections

/// Backups of a keychain, and their restoration.
public struct StoreBackups {
    let store: KeychainStore
    private var changes: KeybagChanges { KeybagChanges(store: store) }

    public typealias BackupSink = (UnsafeRawBufferPointer) throws(StoreError) -> Void
    /// Fills the buffer with the bytes that are available, and returns their number; 0 at the end.
    public typealias BackupSource = (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int

    /// Writes every item that may leave the device, encrypted under a passphrase of the backup.
    /// ThisDeviceOnly items are also sealed under the device key. `akpu` items and items with
    /// constraints are not written.
    ///
    /// Keys that may not be extracted are written only if `passcode` is given and the keychain has
    /// one, or if `contents` includes them.
    ///
    /// - Parameters:
    ///   - passcode: the passcode of the keychain, if one is set; it opens the items for this operation
    ///     only, independently of the lock state.
    ///   - contents: the data to write in addition.
    ///   - files: the files of the items that are written; nil for a backup without files.
    public func write(
        under passphrase: Passcode, passcode: Passcode?, including contents: BackupContents = [],
        files: BackupFileSource? = nil,
        cost: PasscodeCost = .floor, now: Double,
        to sink: @escaping BackupSink,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) -> BackupReport {
        let keyring = try changes.keyringForAdministration(passcode)
        let device = store.keybag.device
        // If the keychain has a passcode, keyringForAdministration(_:) has verified the given one.
        let includesKeys = contents.contains(.nonExtractableKeys) || (passcode != nil && store.hasPasscode)
        let header = BackupHeader(
            salt: BackupKeys.salt(), cost: cost, keychain: device.keychain, created: now)
        let keys = try Self.keys(of: header, passphrase, device.deviceKey)
        DerivationPermit.release()
        try header.encoded.withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try sink(UnsafeRawBufferPointer(bytes))
        }
        var writer = BackupWriter(key: keys.backupKey, sink: sink)
        let deviceBound = keys.deviceBoundKey
        var report = BackupReport()
        var fileNames: [[UInt8]] = []
        try store.read { (database, current) throws(StoreError) in
            // Rows that were resealed in the meantime would look damaged and would be left out.
            guard current.keyring.generation == keyring.generation else { throw StoreError.keybag(.changedMeanwhile) }
            let seal = current.with(keyring)
            let total = try Self.count(in: database)
            var done = 0
            try store.items(database, seal).forEachRow { (_, row) throws(StoreError) in
                done += 1
                progress(done, total)
                guard let row, !row.clear.isTombstone else { return }
                guard row.clear.protection != .whenPasscodeSetThisDeviceOnly else {
                    report.staying += 1
                    return
                }
                let record: ItemRecord
                do throws(RowSeal.Failure) {
                    record = try seal.verify(row)
                } catch {
                    _ = try error.damage(of: row)
                    report.damaged += 1
                    return
                }
                // Its secrets open only here, for the person who is present; a key of a token works only
                // with this machine's token.
                guard record.needsAuthentication == nil, !record.isTokenKey else {
                    report.staying += 1
                    return
                }
                guard includesKeys || record.isExtractable else {
                    report.recordNonExtractable(record)
                    return
                }
                if let name = files?.name(record) { fileNames.append(name) }
                let item = BackupItem.encode(record)
                if record.protection.isThisDeviceOnly {
                    report.deviceBound += 1
                    let sealed = try item.withUnsafeBytes { (bytes) throws(StoreError) in
                        try RowCryptography.sealItem(bytes, key: deviceBound)
                    }
                    try sealed.withUnsafeBufferPointer { (bytes) throws(StoreError) in
                        try Self.append(.deviceBound, UnsafeRawBufferPointer(bytes), to: &writer)
                    }
                } else {
                    report.portable += 1
                    try item.withUnsafeBytes { (bytes) throws(StoreError) in
                        try Self.append(.portable, bytes, to: &writer)
                    }
                }
            }
        }
        for name in fileNames { try Self.append(name, from: files, to: &writer, &report) }
        try writer.finish()
        return report
    }

    /// Restores a backup in one transaction. If one byte of the backup is damaged, nothing changes.
    ///
    /// - Parameters:
    ///   - merges: true keeps the present items, and of two items with the same primary key the
    ///     newer one; false deletes the present items first.
    ///   - dryRun: does the whole operation, and rolls it back.
    ///   - files: takes the files of the backup; nil leaves them out.
    ///   - keeps: whether the keychain keeps its own item, if any, in place of an item.
    ///   - refusal: returns the reason not to restore an item; nil to restore it.
    public func restore(
        under passphrase: Passcode, passcode: Passcode?, merges: Bool, dryRun: Bool, files: BackupFileSink? = nil,
        keeps: (ItemRecord) -> Bool = { _ in false }, refusal: (ItemRecord) -> String? = { _ in nil },
        from source: @escaping BackupSource,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) -> RestoreReport {
        try store.requireWritable()
        let header = try Self.readHeader(source)
        let keyring = try changes.keyringForAdministration(passcode)
        let keys = try Self.keys(of: header, passphrase, store.keybag.device.deviceKey)
        DerivationPermit.release()
        var reader = BackupReader(key: keys.backupKey, source: source)
        let deviceBound = keys.deviceBoundKey
        var report = RestoreReport()
        do throws(StoreError) {
            try store.write(with: keyring) { (database, seal) throws(StoreError) in
                let items = store.items(database, seal)
                let files = files?.afterItems { [connections = store.connections] () throws(StoreError) in
                    try connections.endGrowth(of: database)
                }
                if !merges { report.deleted = try Self.deleteReplaceable(in: database, seal) }
                while let record = try Self.nextItem(
                    from: &reader, deviceBound, header.version, files, &report)
                {
                    if keeps(record) {
                        report.items += 1
                        if try Self.isStored(record, in: items) { report.equal += 1 } else { report.kept += 1 }
                        continue
                    }
                    let reason =
                        record.accessControlFlags?.hasConstraints == true
                        ? "an item with constraints is not restored" : refusal(record)
                    if let reason {
                        report.refuse(reason)
                        continue
                    }
                    try Self.take(record, in: items, &report)
                    progress(report.items, report.items)
                }
                // They are durable before the items that stand for them.
                try files?.finish()
                if dryRun { throw StoreError.dryRunFinished }
            }
        } catch .dryRunFinished {
            return report
        } catch {
            throw error
        }
        try? store.checkpoint()  // The restore is durable; if this fails, the log is emptied later.
        return report
    }

    // MARK: Items

    private enum Kind: UInt8 {
        case portable = 1
        case deviceBound = 2
        /// The next bytes of a file; since version 2 of the format.
        case filePart = 3
    }

    /// Deletes the items that a backup can contain: none of those with constraints, and no class key of files, because
    /// that protects data outside of the keychain.
    private static func deleteReplaceable(in database: Database, _ seal: RowSeal) throws(StoreError) -> Int {
        let condition = seal.columns.hasConstraint ? " AND access_constraint IS NULL" : ""
        let statement = try RowStatement("DELETE FROM item WHERE access_group <> ?\(condition)", in: database)
        try statement.bind(seal.tokens.group(.files), at: 1)
        return try statement.run()
    }

    /// Writes a file in parts, each after the name of the file.
    private static func append(
        _ name: [UInt8], from files: BackupFileSource?, to writer: inout BackupWriter, _ report: inout BackupReport
    ) throws(StoreError) {
        guard let reader = try files?.open(name) else {
            report.missingFiles += 1
            return
        }
        report.files += 1
        while let part = try reader() {
            try (name + part).withUnsafeBufferPointer { (bytes) throws(StoreError) in
                try append(.filePart, UnsafeRawBufferPointer(bytes), to: &writer)
            }
        }
    }

    private static func take(_ part: UnsafeRawBufferPointer, _ files: BackupFileSink?) throws(StoreError) {
        var content = part.dropFirst(0)
        var name: [UInt8] = []
        while name.count < BackupFileSource.nameLength, let byte = content.popFirst() { name.append(byte) }
        guard !content.isEmpty else { throw .notABackup("a part of a file has no content") }
        try files?.take(name, UnsafeRawBufferPointer(rebasing: content))
    }

    private static func append(_ kind: Kind, _ content: UnsafeRawBufferPointer, to writer: inout BackupWriter)
        throws(StoreError)
    {
        var head = [kind.rawValue]
        head.append(bigEndian: UInt32(content.count))
        try head.withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try writer.append(UnsafeRawBufferPointer(bytes))
        }
        try writer.append(content)
    }

    /// Returns the next item that can be restored on this device; counts the items that cannot.
    private static func nextItem(
        from reader: inout BackupReader, _ deviceBound: SymmetricKey, _ version: UInt16, _ files: BackupFileSink?,
        _ report: inout RestoreReport
    ) throws(StoreError) -> ItemRecord? {
        while true {
            guard !Cancellation.isCancelled else { throw StoreError.cancelled }
            guard let head = try reader.next(5, { (bytes) throws(StoreError) in Array(bytes) }) else { return nil }
            var fields = FieldReader(head)
            guard let kind = fields.number(UInt8.self).flatMap(Kind.init(rawValue:)),
                let length = fields.number(UInt32.self).map({ Int($0) }), length <= maxItemSize,
                kind != .filePart || version > BackupHeader.firstVersion
            else {
                throw .notABackup("it contains an item of an unknown kind")
            }
            guard kind != .filePart else {
                guard try reader.next(length, { (part) throws(StoreError) in try take(part, files) }) != nil else {
                    throw .notABackup("it ends in the middle of a file")
                }
                continue
            }
            let record = try reader.next(length) { (bytes) throws(StoreError) -> ItemRecord? in
                do throws(RowDamage) {
                    switch kind {
                    case .portable:
                        let item = try BackupItem.decode(bytes)
                        guard !item.protection.isThisDeviceOnly else {
                            throw RowDamage("a ThisDeviceOnly item is stored as portable")
                        }
                        return item
                    case .deviceBound: return try RowCryptography.openItem(bytes, key: deviceBound, BackupItem.decode)
                    case .filePart: return nil
                    }
                } catch {
                    throw .notABackup(error.reason)
                }
            }
            guard let record else { throw .notABackup("it ends in the middle of an item") }
            guard let item = record else {
                report.foreign += 1
                continue
            }
            // backup(under:passcode:including:files:cost:now:to:progress:) never writes
            // items of this class, so another program has written this one.
            guard item.protection != ProtectionClass.whenPasscodeSetThisDeviceOnly else {
                report.foreign += 1
                continue
            }
            return item
        }
    }

    private static func take(
        _ item: ItemRecord, in items: ItemTransaction, _ report: inout RestoreReport
    ) throws(StoreError) {
        report.items += 1
        let record = try distinct(item, in: items)
        let token = items.seal.tokens.primaryKey(of: record, group: items.seal.tokens.group(record.accessGroup))
        // Two rows may conflict: one with the same primary key, and one with the same identifier
        // and another primary key. Both are compared before either is changed.
        var older: [Int64] = []
        var damaged: [Int64] = []
        let found = try rows(
            withPrimaryKey: token, orIdentifier: record.identifier, in: items.database, items.seal.columns)
        for (position, row) in found {
            guard let row else {
                damaged.append(position)
                continue
            }
            do throws(RowSeal.Failure) {
                let existing = try items.seal.verify(row)
                if existing.isEqual(to: record) {
                    report.equal += 1
                    return
                }
                // An item with constraints is in no backup, so it is not replaced by one.
                guard existing.needsAuthentication == nil else {
                    report.kept += 1
                    return
                }
                // A class key of files never changes.
                guard record.accessGroup != .files else {
                    report.kept += 1
                    return
                }
                guard existing.isTombstone || record.takesPrecedence(over: existing) else {
                    report.kept += 1
                    return
                }
                older.append(position)
            } catch {
                _ = try error.damage(of: row)
                damaged.append(position)
            }
        }
        for position in damaged { try Quarantine.move(position, in: items.database, items.seal.columns) }
        for position in older {
            let removal = try RowStatement("DELETE FROM item WHERE id = ?", in: items.database)
            try removal.bind(position, at: 1)
            try removal.run()
        }
        try items.insert(try items.seal.seal(record, revision: 1))
        if !older.isEmpty { report.replaced += 1 } else { report.added += 1 }
    }

    /// Returns the item, with a number after its account if it has the primary key of another item that a
    /// client has stored with other lookup attributes: these are two items.
    private static func distinct(
        _ record: ItemRecord, in items: ItemTransaction
    ) throws(StoreError) -> ItemRecord {
        guard let attributes = record.storedLookup else { return record }
        let token = items.seal.tokens.primaryKey(of: record, group: items.seal.tokens.group(record.accessGroup))
        guard let row = try items.row(withPrimaryKey: token)?.1,
            row.clear.identifier != record.identifier, let other = (try? items.seal.open(row))?.storedLookup,
            other != attributes
        else { return record }
        var unnumbered = record
        unnumbered.setLookup(attributes)
        return try items.numbered(unnumbered, except: nil)
    }

    /// Whether the keychain has exactly this item.
    private static func isStored(
        _ record: ItemRecord, in items: ItemTransaction
    ) throws(StoreError) -> Bool {
        let token = items.seal.tokens.primaryKey(of: record, group: items.seal.tokens.group(record.accessGroup))
        let found = try rows(
            withPrimaryKey: token, orIdentifier: record.identifier, in: items.database, items.seal.columns)
        return found.contains { _, row in
            guard let row, let existing = try? items.seal.verify(row) else { return false }
            return existing.isEqual(to: record)
        }
    }

    private static func rows(
        withPrimaryKey token: SearchToken, orIdentifier identifier: ItemIdentifier, in database: Database,
        _ columns: RowColumns
    ) throws(StoreError) -> [(Int64, ItemRow?)] {
        let statement = try RowStatement(
            "SELECT id, \(columns.selection) FROM item WHERE primary_key = ? OR uuid = ?",
            in: database)
        try statement.bind(token, at: 1)
        try statement.bind(identifier.bytes, at: 2)
        var rows: [(Int64, ItemRow?)] = []
        while try statement.step() { rows.append((statement.integer(0), ItemRow(statement))) }
        return rows
    }

    // MARK: Header and keys

    private static func readHeader(_ source: BackupSource) throws(StoreError) -> BackupHeader {
        try BackupHeader(decoding: try BackupReader.bytes(upTo: BackupHeader.length, from: source))
    }

    private static func keys(
        of header: BackupHeader, _ passphrase: Passcode, _ deviceKey: DeviceKey
    ) throws(StoreError) -> BackupKeys {
        let digest = RowCryptography.strongDigest(header.encoded)
        do {
            return try BackupKeys(
                passphrase: passphrase, salt: header.salt, cost: header.cost, headerDigest: digest, deviceKey: deviceKey
            )
        } catch .damaged {
            throw .notABackup("the cost of its passphrase is more than twice the cost that this version writes")
        } catch {
            throw .keybag(error)
        }
    }

    private static func count(in database: Database) throws(StoreError) -> Int {
        let statement = try RowStatement("SELECT count(*) FROM item", in: database)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    /// The maximum length of an item in bytes. The service refuses longer items.
    private static let maxItemSize = 16 << 20
}

extension ItemRecord {
    /// Whether a backup has the same bytes of both items.
    fileprivate func isEqual(to other: ItemRecord) -> Bool {
        guard identifier == other.identifier, modified == other.modified else { return false }
        let bytes = BackupItem.encode(self)
        return bytes.isEqual(to: BackupItem.encode(other))
    }

    /// Returns whether this item wins over another one with the same primary key (keychain-behaviour §5.3): the newer
    /// one wins; if both were modified at the same time, the one with the smaller SHA-1 digest of its data.
    fileprivate func takesPrecedence(over other: ItemRecord) -> Bool {
        guard modified == other.modified else { return modified > other.modified }
        func digest(_ record: ItemRecord) -> [UInt8] {
            record.secrets?.data.map { $0.withUnsafeBytes { RowCryptography.digest($0) } } ?? []
        }
        return digest(self).lexicographicallyPrecedes(digest(other))
    }
}
