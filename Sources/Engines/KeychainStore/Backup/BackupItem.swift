// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// One item in a backup:
/// `uuid(16) class(1) protection(1) sync(1) be32 length ‖ metadata, be32 length ‖ secrets`.
/// Metadata and secrets are encoded as in the rows of the database.
enum BackupItem {
    static func encode(_ record: ItemRecord) -> SecretBytes {
        let metadata = MetadataCoding.encode(record)
        let secrets = SecretsCoding.encode(record.secrets ?? ItemSecrets())
        var head =
            record.identifier.bytes + [
                record.itemClass.number, record.protection.number, record.isSynchronizable ? 1 : 0,
            ]
        head.append(bigEndian: UInt32(metadata.count))
        head += metadata
        head.append(bigEndian: UInt32(secrets.count))
        return SecretBytes(count: head.count + secrets.count) { buffer in
            buffer[..<head.count].copyBytes(from: head)
            secrets.withUnsafeBytes { buffer[head.count...].copyBytes(from: $0) }
        }
    }

    /// Decodes the bytes that ``encode(_:)`` returns.
    ///
    /// - Throws: ``RowDamage`` for every other sequence of bytes.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws(RowDamage) -> ItemRecord {
        let truncated = RowDamage("an item is truncated")
        var fields = FieldReader(bytes)
        guard let identifier = fields.bytes(16).flatMap({ ItemIdentifier(bytes: $0) }),
            let classNumber: UInt8 = fields.number(), let protectionNumber: UInt8 = fields.number(),
            let flag: UInt8 = fields.number()
        else { throw truncated }
        guard let itemClass = ItemClass(number: classNumber), let protection = ProtectionClass(number: protectionNumber)
        else { throw RowDamage("an item has an unknown class") }
        guard flag <= 1 else { throw RowDamage("an item has an invalid flag") }
        let clear = ClearColumns(
            identifier: identifier, itemClass: itemClass, protection: protection, generation: 0, revision: 0,
            isSynchronizable: flag == 1,
            isTombstone: false)
        func half() throws(RowDamage) -> UnsafeRawBufferPointer {
            guard let length: UInt32 = fields.number(), let half = fields.memory(Int(length)) else { throw truncated }
            return half
        }
        var record = try MetadataCoding.decode(try half(), clear: clear)
        record.secrets = try SecretsCoding.decode(try half(), of: itemClass)
        guard fields.isAtEnd else { throw RowDamage("unexpected bytes after an item") }
        return record
    }
}
