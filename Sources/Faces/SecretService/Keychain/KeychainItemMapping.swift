// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The items of the Secret Service as password items of the keychain, and the reverse. A rule of the keychain
/// (`LookupSource`) derives the attributes of SecItem from those of a client.
enum KeychainItemMapping {
    // MARK: Storing

    static func addition(
        _ item: NewSecretItem, replacing: Bool, in collection: CollectionName
    ) throws(KeychainError) -> ItemAddition {
        var addition = ItemAddition(
            try lookup(item.attributes), label: item.label, data: item.secret.bytes,
            contentType: try contentType(item.secret.contentType), replaces: replacing,
            accessGroup: collection.accessGroup.name)
        addition.authentication = Authentication(.fail)
        if let creator = item.creator {
            addition.attributes[.accessList] = try AccessList(creator: creator).attributeValue
        }
        return addition
    }

    static func update(_ update: SecretItemUpdate) throws(KeychainError) -> ItemUpdate {
        var change = ItemUpdate(data: update.secret?.bytes)
        if let label = update.label { change.attributes[.label] = .string(label) }
        if let attributes = update.attributes { change.lookupAttributes = try lookup(attributes) }
        if let secret = update.secret { change.contentType = try contentType(secret.contentType) }
        return change
    }

    static func lookup(_ attributes: SecretAttributes) throws(KeychainError) -> LookupAttributes {
        try LookupAttributes(attributes.pairs.map { (name: $0.name, value: $0.value) })
    }

    /// A client that names no type gets the one that items without a type have.
    private static func contentType(_ text: String) throws(KeychainError) -> ContentType {
        guard let type = ContentType(text.isEmpty ? usualContentType : text) else {
            throw .parameter("the type of a content has at most \(ContentType.maxLength) printable characters")
        }
        return type
    }

    private static let usualContentType = "text/plain"

    // MARK: Reading

    static func item(_ record: ItemRecord, at reference: ItemReference) -> SecretItem {
        let metadata = SecretItemMetadata(
            label: label(of: record), attributes: attributes(of: record), created: seconds(record.created),
            modified: seconds(record.modified))
        return SecretItem(reference, metadata, creators: record.creators)
    }

    static func secret(of record: ItemRecord) -> SecretValue {
        SecretValue(
            record.secrets?.data ?? SharedSecret(copying: [UInt8]()),
            contentType: record.contentType?.text ?? usualContentType)
    }

    /// A program of SecItem may have given no label; the user then knows the item by its service.
    private static func label(of record: ItemRecord) -> String {
        record[.label]?.text ?? record[.service]?.text ?? record[.server]?.text ?? ""
    }

    private static func attributes(of record: ItemRecord) -> SecretAttributes {
        let entries = record.lookupAttributes?.entries ?? []
        // A map of the keychain is always one of the Secret Service, because the Secret Service has wider limits.
        let pairs = entries.map { SecretAttributes.Pair($0.name, $0.value) }
        return (try? SecretAttributes(validating: pairs)) ?? SecretAttributes.none
    }

    /// Seconds since 1970, from seconds since 2001.
    static func seconds(_ date: Double) -> UInt64 {
        UInt64(exactly: (date + 978_307_200).rounded(.down)) ?? 0
    }
}
