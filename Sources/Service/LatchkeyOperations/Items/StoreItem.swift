// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Stores an item in the place of the first one that a query finds, or as a new one, in one transaction.
package struct StoreItem: KeychainOperation {
    /// The new item. An existing item in its place gets its data, if the update has any.
    package let item: ItemAddition
    /// The query for the existing item in its place.
    package let query: ItemQuery
    /// The change of that item; nil if its existence is an error.
    package let update: ItemUpdate?
    /// Whether the item is not stored as a new one: the part of the operation that each keychain of a search
    /// list performs, before the default one performs the rest.
    private let onlyReplaces: Bool

    package init(_ item: ItemAddition, inPlaceOf query: ItemQuery, with update: ItemUpdate?) {
        self.init(item, query, update, onlyReplaces: false)
    }

    private init(_ item: ItemAddition, _ query: ItemQuery, _ update: ItemUpdate?, onlyReplaces: Bool) {
        (self.item, self.query, self.update, self.onlyReplaces) = (item, query, update, onlyReplaces)
    }

    package static let traits: OperationTraits = [.accessesItems, .changes]

    package var audit: AuditDetails? { AuditDetails("add", itemClass: item.itemClass, group: item.accessGroup) }

    package var reach: OperationReach { .searchListThenDefault }

    package var inSearchList: StoreItem { StoreItem(item, query, update, onlyReplaces: true) }

    package var authentication: Authentication? { item.authentication }

    package func authenticated(by authentication: Authentication) -> StoreItem {
        var item = item
        item.authentication = authentication
        return StoreItem(item, query, update, onlyReplaces: onlyReplaces)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> StoredRecord {
        try context.service.items.store(
            item, inPlaceOf: query, with: update, onlyReplaces: onlyReplaces, from: context.caller)
    }

    package func kept(_ answer: StoredRecord) throws(KeychainError) -> StoredRecord {
        guard answer.record.isShort else { throw .lostAnswer }
        return answer
    }
}

extension StoredRecord: ResponseContent {
    package var auditedCount: Int { 1 }
    package var auditedGroup: AccessGroup? { record.accessGroup }
}

extension OperationPerformer {
    /// Stores an item in the place of the first one that a query finds, a local one before a synchronized one;
    /// or as a new one, if there is none.
    ///
    /// - Parameters:
    ///   - update: the change of the item that is found. A new class keeps its access control, and a new access control
    ///     its class, unless the update has both.
    /// - Returns: the item as stored, without its secrets.
    /// - Throws: errSecDuplicateItem if the query finds an item and there is no update, or if another item has
    ///   the primary key.
    package func store(
        _ item: ItemAddition, inPlaceOf query: ItemQuery, with update: ItemUpdate?
    ) throws(KeychainError) -> StoredRecord {
        try perform(StoreItem(item, inPlaceOf: query, with: update))
    }
}

// MARK: Coding

extension StoreItem {
    init(_ wire: WireStoreItem, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        let item = try wire.item.decode(&secrets)
        var update: ItemUpdate?
        if wire.hasUpdate {
            update = try wire.update.decode(&secrets)
            guard update?.data == nil else { throw .malformed("the data is that of the new item") }
            if wire.setsData { update?.data = item.secrets.data }
        }
        self.init(item, inPlaceOf: try wire.query.decode(), with: update)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireStoreItem()
        wire.item = WireAddition(item, &secrets)
        wire.query = WireQuery(query)
        if var update {
            wire.setsData = update.data != nil
            update.data = nil
            wire.update = WireUpdate(update, &secrets)
        }
        return .storeItem(wire)
    }
}

extension StoredRecord {
    init(_ wire: WireStoredRecord, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        self.init(try wire.record.decode(&secrets), isReplacement: wire.isReplacement)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireStoredRecord()
        wire.record = WireRecord(record, &secrets)
        wire.isReplacement = isReplacement
        return .storedRecord(wire)
    }
}
