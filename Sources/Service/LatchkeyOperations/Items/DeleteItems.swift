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

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        ItemCount(try context.service.delete(query, from: context.caller))
    }
}

// MARK: Coding

extension DeleteItems {
    init(_ wire: WireQuery) throws(WireError) { query = try wire.decode() }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .delete(WireQuery(query))
    }
}
