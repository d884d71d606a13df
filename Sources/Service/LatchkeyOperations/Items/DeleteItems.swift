// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Deletes every matching item. Answers with the number of items that matched.
package struct DeleteItems: KeychainOperation {
    package let query: ItemQuery

    package init(_ query: ItemQuery) { self.query = query }

    package static let traits: OperationTraits = [.accessesItems, .changes, .worksWithoutLog]

    package var audit: AuditDetails? { AuditDetails("delete", query) }

    package var reach: OperationReach { .searchList }

    package var nothing: ItemCount? { ItemCount(0) }

    package func rest(after answer: ItemCount) -> DeleteItems? { query.limit == .one ? nil : self }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        ItemCount(try context.service.items.delete(query, from: context.caller))
    }
}

extension OperationPerformer {
    /// Deletes every matching item.
    ///
    /// - Returns: how many items matched.
    package func delete(_ query: ItemQuery) throws(KeychainError) -> Int { try perform(DeleteItems(query)).count }
}

// MARK: Coding

extension DeleteItems {
    init(_ wire: WireQuery) throws(WireError) { query = try wire.decode() }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .delete(WireQuery(query))
    }
}
