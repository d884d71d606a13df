// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore

/// Searches that pass their results on in parts.
extension KeychainItems {
    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity,
        begin: () throws(KeychainError) -> Void, inParts take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        // A keychain in memory has one connection, and the connection is in use while a part is passed on.
        guard query.limit == .all, !query.isAboutIdentities, query.authentication.context == nil, keychain.home != nil
        else {
            let found = try copyMatching(query, returning: returning, from: caller)
            try begin()
            return try take(found)
        }
        let caller = try Authorizer.authorize(caller)
        var hasLocked = false
        try passAll(query, returning, caller, begin) { (part) throws(KeychainError) in
            hasLocked = hasLocked || !part.locked.isEmpty
            try take(part)
        }
        if hasLocked, keychain.unlocksAutomatically() { try passAll(query, returning, caller, begin, take) }
    }

    private func passAll(
        _ query: ItemQuery, _ returning: ReturnTypes, _ caller: AuthorizedCaller,
        _ begin: () throws(KeychainError) -> Void, _ take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try passMatches(
            of: query.isAboutAllPasswords ? query.of(.genericPassword) : query, returning, caller, begin, take)
        if query.isAboutAllPasswords {
            var hasPassed = false
            try passMatches(of: query.of(.internetPassword), returning, caller) {
                () throws(KeychainError) in
                // Those of the first class would have to be passed again.
                guard !hasPassed else { throw .changedDuringSearch }
            } _: { (part) throws(KeychainError) in
                hasPassed = true
                try take(part)
            }
        }
    }

    private func passMatches(
        of query: ItemQuery, _ returning: ReturnTypes, _ caller: AuthorizedCaller,
        _ begin: () throws(KeychainError) -> Void, _ take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let search = try caller.search(query, for: .read)
        var (failure, lost) = (KeychainError?.none, [ItemIdentifier]())
        func pass(_ part: SearchResult) throws(KeychainError) {
            var records = try constraints.settle(part.records, query.authentication, limit: nil)
            if search.itemClass == .key { try KeyRules.removeProtectedData(from: &records, returning) }
            lost += part.lost
            try take(ItemMatches(records: records, damaged: part.damaged.count, locked: part.locked))
        }
        func succeeds(_ body: () throws(KeychainError) -> Void) -> Bool {
            do throws(KeychainError) { try body() } catch { failure = failure ?? error }
            return failure == nil
        }
        let last = try keychain.run { () throws(StoreError) in
            try keychain.store.search(
                inParts: search, withSecrets: returning.contains(.data),
                withDigest: returning.isSuperset(of: [.data, .attributes]),
                withAttributes: returning.needsAttributes(of: search.itemClass)
            ) {
                _ = succeeds(begin)
            } take: { part in
                failure == nil && succeeds { () throws(KeychainError) in try pass(part) }
            }
        }
        if let failure { throw failure }
        try pass(last)
        constraints.discard(lost, of: search.itemClass)
    }
}

extension KeychainError {
    public static let changedDuringSearch = KeychainError(
        .notAvailable, "the keychain was changed while its items were read", hint: "try again")
}

extension ItemQuery {
    /// The same query for items of one class.
    fileprivate func of(_ itemClass: ItemClass) -> ItemQuery {
        var query = self
        query.itemClass = itemClass
        return query
    }
}
