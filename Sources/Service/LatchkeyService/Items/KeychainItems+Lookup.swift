// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore

/// Items that clients of the Secret Service store, and find by their lookup attributes.
extension KeychainItems {
    /// Stores an item with lookup attributes, or changes the existing item in its place, in one transaction.
    func addWithLookup(
        _ record: ItemRecord, _ item: ItemAddition, _ use: ConstraintUse, _ settings: ChangeSettings
    ) throws(StoreError) -> ItemRecord {
        let update = ItemUpdate(item)
        return try keychain.store.transaction(constraints: use) { (items) throws(StoreError) -> ItemRecord in
            if item.replaces {
                let changed = try items.replace(record) { (old) throws(KeychainError) in
                    try ItemRules.applying(
                        update.keepingAccessList(of: old), to: old, group: nil, settings)
                }
                if let changed { return changed }
            }
            return try items.addNumbered(record)
        }
    }

    /// Returns the matching passwords of both classes, each class in the order of addition.
    func copyPasswords(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        let limit = (query.limit ?? .one).count
        var found = ItemMatches(records: [], damaged: 0)
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            let rest = limit.map { $0 - found.records.count }
            guard rest != 0 else { break }
            var part = query
            part.itemClass = itemClass
            part.limit = rest.map { MatchLimit.atMost(UInt32(clamping: $0)) } ?? .all
            found.append(try copyMatching(part, returning: returning, from: caller))
        }
        return found
    }
}

extension ItemMatches {
    fileprivate mutating func append(_ other: ItemMatches) {
        records += other.records
        damaged += other.damaged
        locked += other.locked
    }
}

extension ItemQuery {
    /// Whether the query is for passwords of both classes.
    var isAboutAllPasswords: Bool { itemClass == nil && persistentReference == nil && lookupAttributes != nil }
}
