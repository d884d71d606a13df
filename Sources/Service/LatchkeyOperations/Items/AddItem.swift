// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Stores a new item, and answers with the item as stored.
package struct AddItem: KeychainOperation {
    package let item: ItemAddition

    package init(_ item: ItemAddition) { self.item = item }

    package static let traits: OperationTraits = [.accessesItems, .changes]

    package var audit: AuditDetails? {
        AuditDetails("add", itemClass: item.itemClass, group: item.accessGroup)
    }

    package var authentication: Authentication? { item.authentication }

    package func authenticated(by authentication: Authentication) -> AddItem {
        var item = item
        item.authentication = authentication
        return AddItem(item)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemRecord {
        try context.service.items.add(item, from: context.caller)
    }

    package func kept(_ answer: ItemRecord) throws(KeychainError) -> ItemRecord {
        var record = answer
        record.secrets = nil
        guard record.isShort else { throw .lostAnswer }
        return record
    }

    /// The secrets of the repeated request are the same as those of the first one.
    package func repeated(_ kept: ItemRecord) -> ItemRecord {
        var record = kept
        record.secrets = item.secrets
        return record
    }
}

extension ItemRecord: ResponseContent {
    package var auditedCount: Int { 1 }
    package var auditedGroup: AccessGroup? { accessGroup }

    /// Whether the record without its secrets is small enough to be kept for a repeated request.
    var isShort: Bool {
        let own = attributes.values.reduce(0) { $0 + $1.canonicalBytes.count }
        return own + (storedLookup?.encodedLength ?? 0) <= Self.maxKeptLength
    }

    /// In bytes.
    private static var maxKeptLength: Int { 4096 }
}

extension KeychainError {
    /// The answer to a repeated change if the first answer was too long to be kept.
    static let lostAnswer = KeychainError(
        .io, "the item was stored, but the response was lost with the connection", hint: "search for it")
}

extension OperationPerformer {
    /// Stores a new item; or, if the addition replaces, changes the one item that has exactly the same lookup
    /// attributes, or that has the primary key derived from them and no lookup attributes of its own.
    ///
    /// - Returns: the item as stored, with its secrets.
    package func add(_ item: ItemAddition) throws(KeychainError) -> ItemRecord { try perform(AddItem(item)) }
}

// MARK: Coding

extension AddItem {
    init(_ wire: WireAddition, _ secrets: inout SecretTable) throws(WireError) {
        item = try wire.decode(&secrets)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .add(WireAddition(item, &secrets))
    }
}

extension ItemRecord {
    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        .record(WireRecord(self, &secrets))
    }
}
