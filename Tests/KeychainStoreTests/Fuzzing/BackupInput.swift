// SPDX-License-Identifier: Apache-2.0

import Keybag
import KeychainModel
@testable import KeychainStore
import SecretMemory

/// A backup from an untrusted source. The first byte selects its form: the bytes as a whole file,
/// the content of an authentic file, or changes to the content of a valid one. The fuzzer and the
/// test that replays its corpus share it.
enum BackupInput {
    /// Restores the backup.
    ///
    /// - Returns: whether the backup was restored, the fault of the keychain afterwards, nil for none, and the reasons
    ///   for refused items.
    static func restore(_ bytes: [UInt8]) throws -> (isRestored: Bool, fault: String?, refusals: [String]) {
        guard let choice = bytes.first else { return (false, nil, []) }
        let rest = Array(bytes.dropFirst())
        let file =
            switch choice % 3 {
            case 0: cheap(rest)
            case 1: try sealed(rest)
            default: try sealed(edited(rest))
            }
        let store = try KeychainStore(inMemoryWith: deviceKey)
        defer { store.close() }
        var position = 0
        let report = try? store.backups.restore(
            under: Passcode(passphrase), passcode: nil, merges: choice & 0x40 != 0, dryRun: false,
            files: BackupFileSink(
                take: { name, content in
                    precondition(name.count == BackupFileSource.nameLength && !content.isEmpty)
                }, finish: {}),
            from: { (buffer) throws(StoreError) in
                let count = min(buffer.count, file.count - position)
                buffer.copyBytes(from: file[position..<position + count])
                position += count
                return count
            })
        return (report != nil, try fault(of: store, report), report?.refusals ?? [])
    }

    private static let passphrase = SharedSecret(copying: "a passphrase of the fuzzer".utf8)
    private static let deviceKey = DeviceKey.ephemeral()
    /// A header with the lowest cost of a backup.
    private static let header = BackupHeader(
        version: BackupHeader.version, salt: [UInt8](repeating: 7, count: 32),
        cost: PasscodeCost(exponent: 1, blockSize: 1),
        keychain: [UInt8](repeating: 1, count: 16),
        created: 0)

    /// Checks that the keychain holds only restored items, that every row opens, and that the
    /// search over all of them ends.
    private static func fault(of store: KeychainStore, _ report: RestoreReport?) throws -> String? {
        var count = 0
        for itemClass in ItemClass.stored {
            let search = ItemSearch(itemClass, groups: .all(.claimed), attributes: [:], synchronizable: .any)
            let found = try store.search(search, limit: nil, withSecrets: true)
            guard found.damaged.isEmpty else { return "a restored item does not open" }
            count += found.records.count
        }
        let expected = (report?.added ?? 0) + (report?.replaced ?? 0)
        return count <= expected ? nil : "the keychain holds \(count) items, \(expected) were restored"
    }

    /// Returns the file with the lowest cost. Another test covers costs.
    private static func cheap(_ file: [UInt8]) -> [UInt8] {
        guard file.count >= BackupHeader.length else { return file }
        return Array(file.prefix(42)) + Array(header.encoded.dropFirst(42).prefix(9)) + Array(file.dropFirst(51))
    }

    /// Returns an authentic file with this content, as a holder of the passphrase could write it.
    private static func sealed(_ content: [UInt8]) throws -> [UInt8] {
        let keys = try BackupKeys(
            passphrase: Passcode(passphrase), salt: header.salt, cost: header.cost,
            headerDigest: RowCryptography.strongDigest(header.encoded), deviceKey: deviceKey)
        var file = header.encoded
        var writer = BackupWriter(key: keys.backupKey) { (bytes) throws(StoreError) in file += bytes }
        try content.withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try writer.append(UnsafeRawBufferPointer(bytes))
        }
        try writer.finish()
        return file
    }

    /// Returns the content of a valid backup with changed bytes. Three bytes describe each change:
    /// the position, and the bits to flip.
    private static func edited(_ edits: [UInt8]) -> [UInt8] {
        var content = items
        for start in stride(from: 0, to: edits.count - edits.count % 3, by: 3) {
            let position = Int(edits[start]) << 8 | Int(edits[start + 1])
            if content.indices.contains(position) { content[position] ^= edits[start + 2] }
        }
        return content
    }

    /// An item of each class, as the content of a backup.
    private static let items: [UInt8] = ItemClass.stored.enumerated().flatMap { number, itemClass in
        var record = ItemRecord(
            identifier: ItemIdentifier(bytes: [UInt8](repeating: UInt8(number), count: 16)) ?? .random(),
            itemClass: itemClass,
            protection: .whenUnlocked, accessGroup: AccessGroup("G1", grade: .claimed), created: 100, modified: 100,
            attributes: [.label: .string("label \(number)")], addedBy: "/usr/bin/example",
            secrets: ItemSecrets(data: SharedSecret(copying: "data \(number)".utf8)))
        record.completeDefaults()
        let item = BackupItem.encode(record).withUnsafeBytes { Array($0) }
        return [UInt8(1)] + withUnsafeBytes(of: UInt32(item.count).bigEndian) { Array($0) } + item
    }
}
