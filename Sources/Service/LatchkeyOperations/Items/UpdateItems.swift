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

    package var reach: OperationReach { .searchList }

    package var nothing: ItemCount? { ItemCount(0) }

    package func rest(after answer: ItemCount) -> UpdateItems? { query.limit == .one ? nil : self }

    package var authentication: Authentication? { query.authentication }

    package func authenticated(by authentication: Authentication) -> UpdateItems {
        var query = query
        query.authentication = authentication
        return UpdateItems(query, with: update)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        // Items that are moved can be read in the group that they are moved to.
        if update.accessGroup != nil {
            try context.requireAccess(
                toSecretsIn: query.accessGroup.map { [AccessGroup($0, grade: .claimed)] })
        }
        return ItemCount(try context.service.items.update(query, with: update, from: context.caller))
    }
}

extension OperationPerformer {
    /// Changes every matching item: all of them, or none.
    ///
    /// - Returns: how many items matched.
    package func update(_ query: ItemQuery, with update: ItemUpdate) throws(KeychainError) -> Int {
        try perform(UpdateItems(query, with: update)).count
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
