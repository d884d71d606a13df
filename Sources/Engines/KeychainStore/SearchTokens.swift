// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel

/// What stands in the database for values that are searched: 16 bytes that only a holder of the index key can compute.
///
/// ```
/// attribute   = HMAC(index key, "latchkey v1 attribute" ‖ class ‖ code(4) ‖ canonical value)
/// group       = HMAC(index key, "latchkey v1 group" ‖ grade ‖ name)
/// primary key = HMAC(index key, "latchkey v1 primary key" ‖ class ‖ for each column: code(4) ‖ length(4) ‖ canonical value)
/// ```
/// The canonical value of the column `agrp` in the primary key is its group token.
struct SearchTokens {
    let keyring: any ItemKeyWrapping

    func attribute(_ attribute: ItemAttribute, _ value: AttributeValue, of itemClass: ItemClass) -> [UInt8] {
        token(Self.attributeLabel + [itemClass.number] + attribute.code + value.canonicalBytes)
    }

    func group(_ group: AccessGroup) -> [UInt8] {
        token(Self.groupLabel + [group.grade.rawValue] + Array(group.name.utf8))
    }

    func primaryKey(of record: ItemRecord, group: [UInt8]) -> [UInt8] {
        var message = Self.primaryKeyLabel + [record.itemClass.number]
        for column in ItemSchema.of(record.itemClass).primaryKey {
            let value = column.attribute == .accessGroup ? group : record.primaryKeyValue(of: column).canonicalBytes
            message += column.attribute.code + UInt32(value.count).bigEndianBytes + value
        }
        return token(message)
    }

    /// The tokens of ``DatabaseSchema/tokenColumns``.
    func columns(of record: ItemRecord) -> [[UInt8]?] {
        let schema = ItemSchema.of(record.itemClass)
        return DatabaseSchema.tokenColumns.map { attribute in
            guard schema[attribute]?.isIndexed == true, let value = record.attributes[attribute] else { return nil }
            return self.attribute(attribute, value, of: record.itemClass)
        }
    }

    private func token(_ message: [UInt8]) -> [UInt8] {
        keyring.withIndexKey { RowCryptography.token(message, key: $0) }
    }

    private static let attributeLabel = Array("latchkey v1 attribute".utf8)
    private static let groupLabel = Array("latchkey v1 group".utf8)
    private static let primaryKeyLabel = Array("latchkey v1 primary key".utf8)
}
