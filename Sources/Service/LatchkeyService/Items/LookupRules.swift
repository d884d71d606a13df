// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The rules for the lookup attributes of items: how they and the attributes of SecItem follow each
/// other.
enum LookupRules {
    /// Gives a new item its lookup attributes, and the attributes that follow from them.
    ///
    /// - Throws: errSecParam for an addition that also sets such an attribute, or that replaces without
    ///   lookup attributes.
    static func apply(_ item: ItemAddition, to record: inout ItemRecord) throws(KeychainError) {
        record.contentType = item.contentType
        guard let attributes = item.lookupAttributes else {
            guard !item.replaces else { throw .parameter("only an item with lookup attributes replaces another one") }
            return
        }
        let derived = attributes.itemAttributes(of: item.itemClass)
        if let given = derived.keys.first(where: { item.attributes[$0] != nil }) {
            throw .parameter("the attribute '\(given.rawValue)' follows from the lookup attributes")
        }
        record.setLookup(attributes)
    }

    /// Applies an update. New lookup attributes set the attributes that follow from them; otherwise the
    /// lookup attributes that a client has stored follow the attributes that have changed.
    static func apply(
        _ update: ItemUpdate, to changed: inout ItemRecord, was record: ItemRecord
    ) throws(KeychainError) {
        if let type = update.contentType { changed.contentType = type }
        if let attributes = update.lookupAttributes {
            changed.setLookup(attributes)
        } else if let attributes = record.storedLookup {
            let changes = changed.attributes.filter { record.attributes[$0.key] != $0.value }
            guard !changes.isEmpty else { return }
            changed.storedLookup = try attributes.following(changes, of: record.itemClass)
        }
    }

    /// Throws for an item other than a password that has lookup attributes or a content type: its row could not be
    /// opened again.
    static func check(_ record: ItemRecord) throws(KeychainError) {
        guard !record.itemClass.isPassword else { return }
        guard record.storedLookup == nil, record.contentType == nil else {
            throw .parameter("only passwords have lookup attributes and a content type")
        }
    }
}

extension ItemUpdate {
    /// Creates the update that an addition makes to the existing item in its place.
    init(_ item: ItemAddition) {
        self.init(
            attributes: item.attributes, data: item.secrets.data, secretAttributes: item.secrets.attributes,
            protection: item.protection, accessControlFlags: item.accessControlFlags)
        (lookupAttributes, contentType) = (item.lookupAttributes, item.contentType)
    }
    /// Returns the update of the existing item in the addition's place: an access list of the item stays, with the
    /// programs that have made the addition.
    func keepingAccessList(of record: ItemRecord) -> ItemUpdate {
        guard let added = attributes[.accessList], record.attributes[.accessList] != nil else { return self }
        var update = self
        update.attributes[.accessList] = nil
        // A list of a later version is kept as it is.
        if let list = try? record.accessList(), let creators = (try? AccessList(added))?.creators {
            update.attributes[.accessList] = list.adding(creators).attributeValue
        }
        return update
    }
}
