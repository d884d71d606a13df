// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import GRDB
public import Keybag
public import KeychainModel
internal import LinuxSystem
internal import SecretMemory

extension KeychainStore {
    public typealias BackupSink = (UnsafeRawBufferPointer) throws(StoreError) -> Void
    /// Fills as much of the buffer as there is; 0 at the end.
    public typealias BackupSource = (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int

    /// Writes every item that may leave, under a passphrase of the backup's own. What is ThisDeviceOnly leaves under the device key as well;
    /// `akpu` does not leave.
    ///
    /// Keys that may not be extracted leave only where the passcode that protects them was given, or the caller says so.
    ///
    /// - Parameter passcode: the keychain's, where one is set; it opens the items for this one purpose, whatever the lock says.
    public func backup(
        under passphrase: Passcode, passcode: Passcode?, includesNonExtractable: Bool = false,
        cost: PasscodeCost = .floor, now: Double,
        to sink: @escaping BackupSink,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) -> BackupReport {
        let keyring = try keyringForAdministration(passcode)
        let device = keybag.device
        // Where a passcode is set, the line above has judged the one that was given.
        let takesKeys = includesNonExtractable || (passcode != nil && hasPasscode)
        let header = BackupHeader(salt: BackupKeys.salt(), cost: cost, keychain: device.keychain, created: now)
        let keys = try Self.keys(of: header, passphrase, device.deviceKey)
        DerivationPermit.release()
        try header.encoded.withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try sink(UnsafeRawBufferPointer(bytes))
        }
        var writer = BackupWriter(key: keys.backupKey, sink: sink)
        let deviceBound = keys.deviceBoundKey
        var report = BackupReport()
        try read { (database, current) throws(StoreError) in
            // Rows that were sealed anew meanwhile would look damaged, and be left out.
            guard current.keyring.generation == keyring.generation else { throw StoreError.keybag(.changedMeanwhile) }
            let seal = RowSeal(keyring: keyring)
            let total = try Self.count(in: database)
            var done = 0
            try forEachRow(in: database) { (_, row) throws(StoreError) in
                done += 1
                progress(done, total)
                guard let row, !row.clear.isTombstone else { return }
                guard row.clear.protection != .whenPasscodeSetThisDeviceOnly else {
                    report.staying += 1
                    return
                }
                let record: ItemRecord
                do throws(RowSeal.Failure) {
                    record = try seal.openWhole(row)
                } catch {
                    _ = try error.damage(of: row)
                    report.damaged += 1
                    return
                }
                guard takesKeys || record.isExtractable else {
                    report.recordNonExtractable(record)
                    return
                }
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
        try writer.finish()
        return report
    }

    /// Reads a backup into the keychain, in one transaction: all of it, or nothing where a byte of it is not what was written.
    ///
    /// - Parameters:
    ///   - merges: keeps what is here, the newer of two items with the same primary key winning; otherwise what is here is deleted first.
    ///   - dryRun: does everything, and takes it back.
    ///   - refusal: why an item is not to be restored; nil for one that is.
    public func restore(
        under passphrase: Passcode, passcode: Passcode?, merges: Bool, dryRun: Bool,
        refusal: (ItemRecord) -> String? = { _ in nil }, from source: @escaping BackupSource,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) -> RestoreReport {
        try requireWritable()
        let header = try Self.readHeader(source)
        let keyring = try keyringForAdministration(passcode)
        let keys = try Self.keys(of: header, passphrase, keybag.device.deviceKey)
        DerivationPermit.release()
        var reader = BackupReader(key: keys.backupKey, source: source)
        let deviceBound = keys.deviceBoundKey
        var report = RestoreReport()
        do throws(StoreError) {
            try write(with: keyring) { (database, seal) throws(StoreError) in
                if !merges { report.deleted = try RowStatement("DELETE FROM item", in: database).run() }
                while let record = try Self.nextItem(from: &reader, deviceBound, &report) {
                    if let reason = refusal(record) {
                        report.refuse(reason)
                        continue
                    }
                    try take(record, in: database, seal, &report)
                    progress(report.items, report.items)
                }
                if dryRun { throw StoreError.dryRunFinished }
            }
        } catch .dryRunFinished {
            return report
        } catch {
            throw error
        }
        try? checkpoint()  // What was restored stands; the log is emptied later.
        return report
    }

    // MARK: Items

    private enum Kind: UInt8 {
        case portable = 1
        case deviceBound = 2
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

    /// The next item that can be restored here; what cannot is counted.
    private static func nextItem(
        from reader: inout BackupReader, _ deviceBound: SymmetricKey, _ report: inout RestoreReport
    ) throws(StoreError) -> ItemRecord? {
        while true {
            guard !Cancellation.isCancelled else { throw StoreError.cancelled }
            guard let head = try reader.next(5, { (bytes) throws(StoreError) in Array(bytes) }) else { return nil }
            let length = Int(head[1...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            guard let kind = Kind(rawValue: head[0]), length <= maxItemSize else {
                throw .notABackup("it holds something that is not known")
            }
            let record = try reader.next(length) { (bytes) throws(StoreError) -> ItemRecord? in
                do throws(RowDamage) {
                    switch kind {
                    case .portable:
                        let item = try BackupItem.decode(bytes)
                        guard !item.protection.isThisDeviceOnly else {
                            throw RowDamage("an item that may not leave its device lies open in it")
                        }
                        return item
                    case .deviceBound: return try RowCryptography.openItem(bytes, key: deviceBound, BackupItem.decode)
                    }
                } catch {
                    throw .notABackup(error.reason)
                }
            }
            guard let record else { throw .notABackup("it ends within an item") }
            guard let item = record else {
                report.foreign += 1
                continue
            }
            // An item of this class never leaves; one that did was put there by somebody else.
            guard item.protection != ProtectionClass.whenPasscodeSetThisDeviceOnly else {
                report.foreign += 1
                continue
            }
            return item
        }
    }

    private func take(
        _ record: ItemRecord, in database: Database, _ seal: RowSeal, _ report: inout RestoreReport
    ) throws(StoreError) {
        report.items += 1
        let token = seal.tokens.primaryKey(of: record, group: seal.tokens.group(record.accessGroup))
        // Two rows may be in the way: one with the same primary key, and this very item under another one. Both are judged before any is touched.
        var older: [Int64] = []
        var damaged: [Int64] = []
        for (position, row) in try Self.rows(withPrimaryKey: token, orIdentifier: record.identifier, in: database) {
            guard let row else {
                damaged.append(position)
                continue
            }
            do throws(RowSeal.Failure) {
                let existing = try seal.openWhole(row)
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
        for position in damaged { try Quarantine.move(position, in: database) }
        for position in older {
            let removal = try RowStatement("DELETE FROM item WHERE id = ?", in: database)
            try removal.bind(position, at: 1)
            try removal.run()
        }
        try insert(try seal.seal(record, revision: 1), in: database)
        if !older.isEmpty { report.replaced += 1 } else { report.added += 1 }
    }

    private static func rows(
        withPrimaryKey token: [UInt8], orIdentifier identifier: ItemIdentifier, in database: Database
    ) throws(StoreError) -> [(Int64, ItemRow?)] {
        let statement = try RowStatement(
            "SELECT id, \(ItemRow.columns.joined(separator: ", ")) FROM item WHERE primary_key = ? OR uuid = ?",
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
            throw .notABackup("the cost of its passphrase is more than twice what this version writes")
        } catch {
            throw .keybag(error)
        }
    }

    private static func count(in database: Database) throws(StoreError) -> Int {
        let statement = try RowStatement("SELECT count(*) FROM item", in: database)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    /// No item is longer: the service refuses what is.
    private static let maxItemSize = 16 << 20
}

extension ItemRecord {
    /// The rule for two items with the same primary key (keychain-behaviour §5.3): the newer one; of two from the same moment, the one with
    /// the smaller SHA-1 of its data.
    fileprivate func takesPrecedence(over other: ItemRecord) -> Bool {
        guard modified == other.modified else { return modified > other.modified }
        func digest(_ record: ItemRecord) -> [UInt8] {
            record.secrets?.data.flatMap { $0.withUnsafeBytes(RowCryptography.digest) } ?? []
        }
        return digest(self).lexicographicallyPrecedes(digest(other))
    }
}
