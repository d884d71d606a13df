// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Changes every matching item: all of them, or none. Answers with the number of items that
/// matched.
package struct UpdateItems: KeychainOperation {
    package let query: ItemQuery
    package let update: ItemUpdate

    package init(_ query: ItemQuery, with update: ItemUpdate) {
        self.query = query
        self.update = update
    }

    package static let traits: OperationTraits = [.accessesItems, .changes, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("update", query) }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        // Items that are moved can be read in the group that they are moved to.
        if update.accessGroup != nil {
            try context.requireAccess(
                toSecretsIn: query.accessGroup.map { [AccessGroup($0, grade: .claimed)] })
        }
        return ItemCount(try context.service.update(query, with: update, from: context.caller))
    }
}

// MARK: Coding

extension UpdateItems {
    init(_ wire: WireUpdateMatching, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        query = try wire.query.decode()
        update = try wire.update.decode(&secrets)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireUpdateMatching()
        wire.query = WireQuery(query)
        wire.update = WireUpdate(update, &secrets)
        return .update(wire)
    }
}
