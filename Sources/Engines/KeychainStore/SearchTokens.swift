// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel

/// The search tokens: 16 bytes for each searchable value, which can be computed only with the index
/// key. The database holds them in place of the values.
///
/// ```
/// attribute   = HMAC(index key, "latchkey v1 attribute" ‖ class ‖ code(4) ‖ canonical value)
/// group       = HMAC(index key, "latchkey v1 group" ‖ grade ‖ name)
/// primary key = HMAC(index key, "latchkey v1 primary key" ‖ class
///                    ‖ for each column: code(4) ‖ length(4) ‖ canonical value)
/// ```
/// The canonical value of the column `agrp` in the primary key is its group token.
///
/// One object is used for one transaction, and caches the tokens of its query: the rows that are
/// found have the same values, so their tokens are compared without being computed again.
final class SearchTokens {
    private let key: TokenKey
    private var known: [(attribute: ItemAttribute, itemClass: ItemClass, value: AttributeValue, token: [UInt8])] = []
    private var knownGroups: [(group: AccessGroup, token: [UInt8])] = []

    init(_ keyring: any ItemKeyWrapping) {
        key = keyring.tokenKey
    }

    /// Returns the token of an attribute of the query, and caches it.
    func cachedToken(_ attribute: ItemAttribute, _ value: AttributeValue, of itemClass: ItemClass) -> [UInt8] {
        let token = self.attribute(attribute, value, of: itemClass)
        if known.count < Self.maxCached { known.append((attribute, itemClass, value, token)) }
        return token
    }

    func attribute(_ attribute: ItemAttribute, _ value: AttributeValue, of itemClass: ItemClass) -> [UInt8] {
        if let match = known.first(where: {
            $0.attribute == attribute && $0.itemClass == itemClass && $0.value == value
        }) {
            return match.token
        }
        var message = Self.attributeLabel
        message.reserveCapacity(128)
        message.append(itemClass.number)
        message.append(bigEndian: attribute.code)
        message += value.canonicalBytes
        return key.token(message)
    }

    func group(_ group: AccessGroup) -> [UInt8] {
        if let match = knownGroups.first(where: { $0.group == group }) { return match.token }
        let token = key.token(Self.groupLabel + [group.grade.rawValue] + Array(group.name.utf8))
        if knownGroups.count < Self.maxCached { knownGroups.append((group, token)) }
        return token
    }

    func primaryKey(of record: ItemRecord, group: [UInt8]) -> [UInt8] {
        var message = Self.primaryKeyLabel
        message.reserveCapacity(256)
        message.append(record.itemClass.number)
        for column in ItemSchema.of(record.itemClass).primaryKey {
            let value = column.attribute == .accessGroup ? group : record.primaryKeyValue(of: column).canonicalBytes
            message.append(bigEndian: column.attribute.code)
            message.append(bigEndian: UInt32(value.count))
            message += value
        }
        return key.token(message)
    }

    /// Returns the tokens of ``DatabaseSchema/tokenColumns``.
    func columns(of record: ItemRecord) -> [[UInt8]?] {
        var tokens = [[UInt8]?](repeating: nil, count: DatabaseSchema.tokenColumns.count)
        for (position, attribute) in DatabaseSchema.tokenColumns(of: record.itemClass) {
            tokens[position] = record.attributes[attribute].map { self.attribute(attribute, $0, of: record.itemClass) }
        }
        return tokens
    }

    /// Whether the token columns of a row are equal to ``columns(of:)`` for the record.
    func match(_ record: ItemRecord, _ tokens: [[UInt8]?]) -> Bool {
        var next = 0
        for (position, attribute) in DatabaseSchema.tokenColumns(of: record.itemClass) {
            guard tokens[next..<position].allSatisfy({ $0 == nil }) else { return false }
            next = position + 1
            switch (tokens[position], record.attributes[attribute]) {
            case (nil, nil): continue
            case (let token?, let value?):
                guard self.attribute(attribute, value, of: record.itemClass) == token else { return false }
            default: return false
            }
        }
        return tokens[next...].allSatisfy { $0 == nil }
    }

    private static let maxCached = 16
    private static let attributeLabel = Array("latchkey v1 attribute".utf8)
    private static let groupLabel = Array("latchkey v1 group".utf8)
    private static let primaryKeyLabel = Array("latchkey v1 primary key".utf8)
}
