// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore

/// Storing an item in the place of one that exists.
extension KeychainItems {
    /// Changes the first item that the query finds, a local one before a synchronized one; or stores the new
    /// item, in one transaction.
    ///
    /// - Parameters:
    ///   - update: the change of the item that is found; nil if its existence is an error.
    ///   - onlyReplaces: whether nothing is stored if none is found: errSecItemNotFound then.
    /// - Returns: the item as stored, without its secrets.
    public func store(
        _ item: ItemAddition, inPlaceOf query: ItemQuery, with update: ItemUpdate?, onlyReplaces: Bool = false,
        from caller: CallerIdentity
    ) throws(KeychainError) -> StoredRecord {
        guard item.lookupAttributes == nil, query.itemClass == item.itemClass, item.itemClass.isPassword,
            update?.accessGroup == nil, update?.lookupAttributes == nil
        else { throw .parameter("only a password without lookup attributes is stored in the place of another one") }
        let context = try constraints.provenContext(item.authentication, of: caller)
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(query, for: .write)
        let record = try newItems.record(of: item, for: caller)
        let settings = try ChangeSettings(keychain)
        for _ in 0..<Self.maxAttempts {
            // The binding of a new access control is read before the transaction, because a transaction cannot wait for
            // a sensor.
            let known = try known(search, context)
            let flags: AccessControlFlags? =
                if let known, let update {
                    update.accessControlFlags ?? (update.protection == nil ? nil : known.accessControlFlags)
                } else {
                    record.accessControlFlags
                }
            let use = ConstraintUse(context?.keys, binding: try constraints.binding(for: flags, context))
            let stored = try constraints.runConstrained(record.itemClass, context, new: (record.promptLabel, flags)) {
                () throws(StoreError) in
                try keychain.store.transaction(constraints: use) { (items) throws(StoreError) -> StoredRecord? in
                    let old = try items.first(of: search)
                    // Another process has changed it since its access control was read.
                    guard old?.identifier == known?.identifier, old?.accessControlFlags == known?.accessControlFlags
                    else { return nil }
                    if let old {
                        guard let update else { throw .duplicate }
                        if let changed = try replace(old, update, in: items, settings) {
                            return StoredRecord(changed, isReplacement: true)
                        }
                        // Its data is damaged: it counts as absent, and a new item with its key moves it aside.
                    }
                    guard !onlyReplaces else { throw .refused(.itemNotFound) }
                    return StoredRecord(try items.add(record), isReplacement: false)
                }
            }
            if let stored { return stored }
        }
        throw KeychainError(.notAvailable, "other processes keep changing the item", hint: "try again")
    }

    /// Returns the item that would be replaced. Those that never open again, because the enrolled biometry has
    /// changed, are deleted.
    private func known(_ search: ItemSearch, _ context: ProvenContext?) throws(KeychainError) -> ItemRecord? {
        let found = try keychain.run { () throws(StoreError) in
            try keychain.store.search(search, limit: nil, withSecrets: false, constraints: context?.keys)
        }
        constraints.discard(found.lost, of: search.itemClass)
        return ItemTransaction.first(of: found.records)
    }

    /// - Returns: the changed item; nil if it cannot be opened.
    private func replace(
        _ old: ItemRecord, _ update: ItemUpdate, in items: ItemTransaction, _ settings: ChangeSettings
    ) throws(StoreError) -> ItemRecord? {
        var update = update
        if update.protection != nil { update.accessControlFlags = update.accessControlFlags ?? old.accessControlFlags }
        if update.accessControlFlags != nil { update.protection = update.protection ?? old.protection }
        let change = update
        let same = ItemSearch(
            old.itemClass, groups: .only([old.accessGroup]), synchronizable: .any, identifier: old.identifier)
        var changed: ItemRecord?
        try items.update(same) { (old) throws(KeychainError) in
            let result = try ItemRules.applying(change, to: old, group: nil, settings)
            changed = result
            return result
        }
        return changed
    }

    private static let maxAttempts = 8
}
