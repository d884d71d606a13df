// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

// Every use of the keychain that depends on how the attributes of the Secret Service are stored is in
// this file. Queries by attribute maps will replace:
// - `generic`, in which the map and the type of the content are stored for now: a field of the item;
// - `queries(for:group:)`, which finds by the service alone and reads the rest: a search by the map;
// - the answers about locked items (`KeychainSecretStore.search` throws, `items` is empty): the store
//   finds rows of closed classes by their tokens.

/// The attributes of the Secret Service as attributes of a password item.
enum KeychainItemMapping {
    // MARK: Storing

    /// - Parameter number: makes the account unique among items that differ only in other attributes.
    static func addition(_ item: NewSecretItem, number: Int, group: String) -> ItemAddition {
        var attributes = keyAttributes(item.attributes, number: number)
        attributes[.label] = .string(item.label)
        attributes[.generic] = .data(StoredMap(item.attributes, contentType: item.secret.contentType).encoded)
        return ItemAddition(
            .genericPassword, attributes: attributes, secrets: ItemSecrets(data: item.secret.bytes), accessGroup: group)
    }

    static func update(_ update: SecretItemUpdate, of record: ItemRecord, number: Int) -> ItemUpdate {
        var attributes: [ItemAttribute: AttributeValue] = [:]
        if let label = update.label { attributes[.label] = .string(label) }
        let isGeneric = record.itemClass == .genericPassword
        if isGeneric, update.attributes != nil || update.secret != nil {
            let map = StoredMap(
                update.attributes ?? self.attributes(of: record),
                contentType: update.secret?.contentType ?? contentType(of: record))
            attributes[.generic] = .data(map.encoded)
        }
        if isGeneric, let new = update.attributes {
            attributes.merge(keyAttributes(new, number: number)) { $1 }
        }
        return ItemUpdate(attributes: attributes, data: update.secret?.bytes)
    }

    /// Service and account, from the names in use.
    private static func keyAttributes(
        _ attributes: SecretAttributes, number: Int
    ) -> [ItemAttribute: AttributeValue] {
        let service = ["service", "server", "domain", "host"].lazy.compactMap { attributes[$0] }.first ?? ""
        let account = ["username", "user", "account", "login"].lazy.compactMap { attributes[$0] }.first ?? ""
        let suffix = number > 1 ? " #\(number)" : ""
        return [.service: .string(service), .account: .string(account + suffix)]
    }

    /// Calls `body` with the numbers from 1, until there is no item with the same service and account.
    static func numbered<Value>(_ body: (Int) throws(KeychainError) -> Value) throws(KeychainError) -> Value {
        for number in 1..<maxNumber {
            do throws(KeychainError) {
                return try body(number)
            } catch {
                guard error.status == .duplicateItem else { throw error }
            }
        }
        return try body(maxNumber)
    }

    private static let maxNumber = 1000

    // MARK: Reading

    /// Returns the map that a client has stored; of an item that another program has stored, the names
    /// that clients know.
    static func attributes(of record: ItemRecord) -> SecretAttributes {
        if let map = StoredMap(record) { return map.attributes }
        var pairs: [(String, String?)] = []
        switch record.itemClass {
        case .internetPassword:
            pairs = [
                ("server", record[.server]?.text), ("user", record[.account]?.text),
                ("protocol", record[.protocol]?.text), ("port", port(of: record)),
                ("domain", record[.securityDomain]?.text),
                ("object", record[.path]?.text), (SecretAttributes.schemaName, "org.gnome.keyring.NetworkPassword"),
            ]
        default:
            let account = record[.account]?.text
            pairs = [
                ("service", record[.service]?.text), ("account", account), ("username", account), ("user", account),
                (SecretAttributes.schemaName, SecretAttributes.genericSchema),
            ]
        }
        let known = pairs.compactMap { name, value in value.map { SecretAttributes.Pair(name, $0) } }
        return (try? SecretAttributes(validating: known)) ?? .none
    }

    private static func port(of record: ItemRecord) -> String? {
        guard case .number(let port)? = record[.port], port != 0 else { return nil }
        return "\(port)"
    }

    static func contentType(of record: ItemRecord) -> String { StoredMap(record)?.contentType ?? "text/plain" }

    /// Returns the queries whose results contain all items with these attributes.
    static func queries(for attributes: SecretAttributes, group: String?) -> [ItemQuery] {
        var generic = ItemQuery(
            .genericPassword, accessGroup: group, synchronizable: .any, limit: .all,
            authentication: Authentication(.fail))
        var internet = generic
        internet.itemClass = .internetPassword
        if let service = attributes["service"] { generic.attributes[.service] = .string(service) }
        if let server = attributes["server"] { internet.attributes[.server] = .string(server) }
        return [generic, internet]
    }
}

/// A map of attributes and the type of a content, as bytes.
private struct StoredMap {
    let attributes: SecretAttributes
    let contentType: String

    init(_ attributes: SecretAttributes, contentType: String) {
        (self.attributes, self.contentType) = (attributes, contentType)
    }

    /// nil if the item has none.
    init?(_ record: ItemRecord) {
        guard record.itemClass == .genericPassword, case .data(let bytes)? = record[.generic],
            bytes.starts(with: Self.magic)
        else { return nil }
        var reader = FieldReader(bytes)
        guard reader.bytes(Self.magic.count) != nil, let contentType = Self.text(&reader) else { return nil }
        var pairs: [SecretAttributes.Pair] = []
        while reader.remaining > 0 {
            guard let name = Self.text(&reader), let value = Self.text(&reader) else { return nil }
            pairs.append(SecretAttributes.Pair(name, value))
        }
        guard let attributes = try? SecretAttributes(validating: pairs) else { return nil }
        self.init(attributes, contentType: contentType)
    }

    var encoded: [UInt8] {
        let texts = [contentType] + attributes.pairs.flatMap { [$0.name, $0.value] }
        return texts.reduce(into: Self.magic) { bytes, text in
            let length = UInt32(clamping: text.utf8.count)
            bytes += length.bigEndianBytes
            bytes += Array(text.utf8)
        }
    }

    private static func text(_ reader: inout FieldReader) -> String? {
        guard let length = reader.number(UInt32.self), let bytes = reader.bytes(Int(length)) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let magic = Array("latchkey secret attributes 1\n".utf8)
}
