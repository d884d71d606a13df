// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore
internal import Logging

/// The items of a keychain: adding, finding, updating and deleting them.
public struct KeychainItems: Sendable {
    let keychain: OpenKeychain
    let constraints: ConstrainedCalls
    let newItems: NewItems
    let identities: KeychainIdentities
    let sweep: FileSweep
    private let log = Logger(label: "latchkey.service")

    init(
        _ keychain: OpenKeychain, _ constraints: ConstrainedCalls, _ newItems: NewItems,
        _ identities: KeychainIdentities, _ sweep: FileSweep
    ) {
        (self.keychain, self.constraints, self.newItems) = (keychain, constraints, newItems)
        (self.identities, self.sweep) = (identities, sweep)
    }

    public func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        let context = try constraints.provenContext(item.authentication, of: caller)
        let record = try newItems.record(of: item, for: try Authorizer.authorize(caller))
        let binding = try constraints.binding(for: record.accessControlFlags, context)
        let settings = record.storedLookup == nil ? nil : try ChangeSettings(keychain)
        return try constraints.runConstrained(
            record.itemClass, context, new: (record.promptLabel, record.accessControlFlags)
        ) { () throws(StoreError) -> ItemRecord in
            guard let settings else { return try keychain.store.add(record, binding: binding) }
            return try addWithLookup(record, item, ConstraintUse(context?.keys, binding: binding), settings)
        }
    }

    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        if query.isAboutIdentities {
            return try identities.copyItems(query, returning: returning, from: caller)
        }
        if query.isAboutAllPasswords { return try copyPasswords(query, returning: returning, from: caller) }
        let context = try constraints.provenContext(query.authentication, of: caller)
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(query, for: .read)
        let limit = (query.limit ?? .one).count
        func find(_ maxRows: Int?) throws(KeychainError) -> (found: SearchResult, count: Int) {
            var result = try keychain.run { () throws(StoreError) in
                try keychain.store.search(
                    search, limit: maxRows, withSecrets: returning.contains(.data),
                    withDigest: returning.isSuperset(of: [.data, .attributes]),
                    withAttributes: returning.needsAttributes(of: search.itemClass), constraints: context?.keys)
            }
            constraints.discard(result.lost, of: search.itemClass)
            context?.passwordWas(right: result.wrongPasswords.isEmpty)
            let count = result.records.count + result.locked.count + result.damaged.count + result.lost.count
            result.records = try constraints.settle(result.records, query.authentication, limit: limit)
            return (result, count)
        }
        var (result, count) = try find(limit)
        if !result.locked.isEmpty, keychain.unlocksAutomatically() { (result, count) = try find(limit) }
        // Items that are left out do not count: others may be in their places.
        if query.authentication.interaction == .skip, let limit, result.records.count < limit, count >= limit {
            result = try find(nil).found
        }
        for row in result.damaged {
            // Debug level only: warnings of a library at every search would flood its host's log.
            // `doctor` and `Latchkey` report damaged rows.
            log.debug(
                "skipped a damaged row",
                metadata: ["item": "\(row.identifier?.description ?? "?")", "reason": "\(row.reason)"])
        }
        if search.itemClass == .key { try KeyRules.removeProtectedData(from: &result.records, returning) }
        return ItemMatches(records: result.records, damaged: result.damaged.count, locked: result.locked)
    }

    public func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        if query.isAboutIdentities { return try identities.update(query, with: update, from: caller) }
        let context = try constraints.provenContext(query.authentication, of: caller)
        let use = ConstraintUse(
            context?.keys, binding: try constraints.binding(for: update.accessControlFlags, context))
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(query, for: .write)
        var group: AccessGroup?
        if let name = update.accessGroup { group = try caller.groupForMove(named: name) }
        let target = group
        let settings = try ChangeSettings(keychain)
        let label = query.promptLabel
        return try constraints.runConstrained(search.itemClass, context, new: (label, update.accessControlFlags)) {
            () throws(StoreError) in
            try keychain.store.update(search, constraints: use, numbersAccounts: update.lookupAttributes != nil) {
                (record) throws(KeychainError) in
                try ItemRules.applying(update, to: record, group: target, settings)
            }
        }
    }

    public func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        if query.isAboutIdentities { return try identities.delete(query, from: caller) }
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(query, for: .write)
        let now = keychain.now()
        return try sweep.removingFiles { () throws(KeychainError) in
            try keychain.run { () throws(StoreError) in try keychain.store.remove(search, now: now) }
        }
    }
}

extension ReturnTypes {
    /// Whether records need their attributes, and not only their data or their persistent reference.
    func needsAttributes(of itemClass: ItemClass) -> Bool {
        // The rules of keys read their attributes.
        self != .data && self != .persistentReference || itemClass == .key
    }
}
