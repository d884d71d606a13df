// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
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
        var rest = bytes[...]
        func take(_ count: Int) throws(RowDamage) -> UnsafeRawBufferPointer {
            guard rest.count >= count else { throw RowDamage("an item is truncated") }
            defer { rest = rest.dropFirst(count) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        func length() throws(RowDamage) -> Int { Int(try take(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) }
        guard let identifier = ItemIdentifier(bytes: Array(try take(16))),
            let itemClass = ItemClass(number: try take(1)[0]),
            let protection = ProtectionClass(number: try take(1)[0])
        else { throw RowDamage("an item has an unknown class") }
        let flag = try take(1)[0]
        guard flag <= 1 else { throw RowDamage("an item has an invalid flag") }
        let clear = ClearColumns(
            identifier: identifier, itemClass: itemClass, protection: protection, generation: 0, revision: 0,
            isSynchronizable: flag == 1,
            isTombstone: false)
        var record = try MetadataCoding.decode(try take(try length()), clear: clear)
        record.secrets = try SecretsCoding.decode(try take(try length()), of: itemClass)
        guard rest.isEmpty else { throw RowDamage("unexpected bytes after an item") }
        return record
    }
}
