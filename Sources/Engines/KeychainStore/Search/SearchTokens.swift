// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import LinuxSystem

/// The search tokens: 16 bytes for each searchable value, computed only with the index key. The database holds them in
/// place of the values.
///
/// ```
/// attribute   = HMAC(index key, "latchkey v1 attribute" ‖ class ‖ code(4) ‖ canonical value)
/// group       = HMAC(index key, "latchkey v1 group" ‖ grade ‖ name)
/// primary key = HMAC(index key, "latchkey v1 primary key" ‖ class
///                    ‖ for each column: code(4) ‖ length(4) ‖ canonical value)
/// lookup      = HMAC(index key, "latchkey v4 lookup" ‖ class ‖ length(4) of the name ‖ name ‖ value)
/// lookup map  = HMAC(index key, "latchkey v4 lookup map" ‖ class ‖ encoded map)
/// ```
/// The canonical value of the column `agrp` in the primary key is its group token.
///
/// One object is used for one transaction, and caches the tokens of its query: the rows that are
/// found have the same values, so their tokens are compared without being computed again.
final class SearchTokens {
    private let key: TokenKey
    /// The tokens of the query, with the messages that they are computed from.
    private var known: [(message: [UInt8], token: SearchToken)] = []

    init(_ keyring: any ItemKeyWrapping) {
        key = keyring.tokenKey
    }

    /// Returns the token of an attribute of the query, and caches it.
    func cachedToken(_ attribute: ItemAttribute, _ value: AttributeValue, of itemClass: ItemClass) -> SearchToken {
        var message = Self.attributeMessage(attribute, of: itemClass)
        message += value.canonicalBytes
        let token = token(message)
        if known.count < Self.maxCached { known.append((message, token)) }
        return token
    }

    /// Returns the token of an attribute; nil if it is unset.
    func attribute(_ attribute: ItemAttribute, of values: some CanonicalValues) -> SearchToken? {
        var message = Self.attributeMessage(attribute, of: values.itemClass)
        guard values.appendCanonicalBytes(of: attribute, to: &message) else { return nil }
        return token(message)
    }

    func group(_ group: AccessGroup) -> SearchToken {
        var message = Self.groupLabel
        message.reserveCapacity(64)
        message.append(group.grade.rawValue)
        message.append(contentsOf: group.name.utf8)
        return key.cachedToken(message)
    }

    func primaryKey(of values: some CanonicalValues, group: SearchToken) -> SearchToken {
        var message = Self.primaryKeyLabel
        message.reserveCapacity(256)
        message.append(values.itemClass.number)
        for column in TokenColumns.of(values.itemClass).primaryKey {
            message.append(bigEndian: column.code)
            if column.attribute == .accessGroup {
                message.append(bigEndian: UInt32(SearchToken.byteCount))
                message.append(group)
            } else {
                Self.append(column, of: values, to: &message)
            }
        }
        return key.token(message)
    }

    /// Returns the tokens of ``DatabaseSchema/tokenColumns``.
    func columns(of record: ItemRecord) -> [TokenColumn] {
        TokenColumns.of(record.itemClass).attributes.map { column($0, of: record) }
    }

    /// Whether the token columns of a row are equal to ``columns(of:)`` for its values.
    func match(_ values: some CanonicalValues, _ columns: [TokenColumn]) -> Bool {
        let attributes = TokenColumns.of(values.itemClass).attributes
        guard columns.count == attributes.count else { return false }
        for (attribute, column) in zip(attributes, columns) {
            guard self.column(attribute, of: values) == column else { return false }
        }
        return true
    }

    /// Returns the tokens in the table of lookup tokens: one for each searchable entry of the item, and one for the
    /// whole map that a client has stored.
    func lookup(of record: ItemRecord) -> [SearchToken] {
        let entries = record.searchableLookup?.entries ?? []
        var tokens = entries.map { lookup($0, of: record.itemClass) }
        if !record.isTombstone, let attributes = record.storedLookup {
            tokens.append(lookup(whole: attributes, of: record.itemClass))
        }
        return tokens
    }

    func lookup(_ entry: LookupEntry, of itemClass: ItemClass) -> SearchToken {
        var message = Self.lookupLabel
        message.reserveCapacity(128)
        message.append(itemClass.number)
        message.append(bigEndian: UInt32(entry.name.utf8.count))
        message.append(contentsOf: entry.name.utf8)
        message.append(contentsOf: entry.value.utf8)
        return key.token(message)
    }

    func lookup(whole attributes: LookupAttributes, of itemClass: ItemClass) -> SearchToken {
        key.token(Self.lookupMapLabel + [itemClass.number] + attributes.encoded)
    }

    private func column(_ attribute: ItemAttribute?, of values: some CanonicalValues) -> TokenColumn {
        guard let attribute, let token = self.attribute(attribute, of: values) else { return .null }
        return .token(token)
    }

    private func token(_ message: [UInt8]) -> SearchToken {
        known.first { $0.message == message }?.token ?? key.token(message)
    }

    // MARK: Messages

    private static func attributeMessage(_ attribute: ItemAttribute, of itemClass: ItemClass) -> [UInt8] {
        var message = attributeLabel
        message.reserveCapacity(96)
        message.append(itemClass.number)
        message.append(bigEndian: attribute.code)
        return message
    }

    /// Appends the length of a canonical value, and the value.
    private static func append(
        _ column: TokenColumns.PrimaryKeyColumn, of values: some CanonicalValues, to message: inout [UInt8]
    ) {
        let start = message.count
        message.append(bigEndian: UInt32(0))
        if !values.appendCanonicalBytes(of: column.attribute, to: &message) { message += column.initial }
        let length = UInt32(message.count - start - 4)
        for index in 0..<4 { message[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
    }

    private static let maxCached = 16
    private static let attributeLabel = Array("latchkey v1 attribute".utf8)
    private static let lookupLabel = Array("latchkey v4 lookup".utf8)
    private static let lookupMapLabel = Array("latchkey v4 lookup map".utf8)
    private static let groupLabel = Array("latchkey v1 group".utf8)
    private static let primaryKeyLabel = Array("latchkey v1 primary key".utf8)
}
