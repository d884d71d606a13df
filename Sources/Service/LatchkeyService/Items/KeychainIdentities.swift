// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore

/// Identities: the pairs of a certificate and the private key with a `klbl` equal to the certificate's `pkhh`
/// (keychain-behaviour §1.4, idnt). They have no rows of their own.
public struct KeychainIdentities: Sendable {
    let keychain: OpenKeychain
    let constraints: ConstrainedCalls
    let newItems: NewItems
    let keys: KeychainKeys

    public func copy(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] {
        let needsReference = returning.contains(.reference)
        var identities = try identities(query, returning: returning, from: caller) { search in
            search.needsCertificateData = needsReference || returning.isStrictSuperset(of: .data)
            if needsReference, search.keyData == .none { search.keyData = .ifReadable }
        }
        for index in identities.indices {
            if needsReference { identities[index].publicKey = try? keys.publicKey(of: identities[index].key) }
            if !returning.contains(.data) { identities[index].key.secrets = nil }
        }
        var halves = identities.map(\.key)
        try KeyRules.removeProtectedData(from: &halves, returning)
        for (index, key) in halves.enumerated() { identities[index].key = key }
        return identities
    }

    /// Returns the identities as items, without the data of their certificates.
    func copyItems(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        var records = try identities(query, returning: returning, from: caller).map(\.item)
        try KeyRules.removeProtectedData(from: &records, returning)
        return ItemMatches(records: records, damaged: 0)
    }

    /// Returns the pairs that match a query for identities, both halves from one state of the
    /// keychain.
    private func identities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity,
        _ change: (inout PairSearch) -> Void = { _ in }
    ) throws(KeychainError) -> [IdentityRecord] {
        let context = try constraints.provenContext(query.authentication, of: caller)
        let caller = try Authorizer.authorize(caller)
        guard query.isAboutIdentities else { throw .parameter("the query must be for identities") }
        var search = try PairSearch(query, for: caller, to: .read)
        if returning.contains(.data) { search.keyData = .required }
        change(&search)
        let (wanted, limit) = (search, (query.limit ?? .one).count)
        // Pairs that are left out do not count.
        let searchLimit = query.authentication.interaction == .skip && limit != 0 ? nil : limit
        let found = try keychain.run { () throws(StoreError) in
            try keychain.store.pairs(wanted, limit: searchLimit, constraints: context?.keys)
        }
        for itemClass in [ItemClass.certificate, .key] { constraints.discard(found.lost, of: itemClass) }
        context?.passwordWas(right: found.wrongPasswords.isEmpty)
        return try settle(
            found.pairs.map { IdentityRecord(certificate: $0.certificate, key: $0.key) }, query.authentication,
            limit: limit)
    }

    /// Applies the rules for items with an unsatisfied access control to both halves.
    private func settle(
        _ identities: [IdentityRecord], _ authentication: Authentication, limit: Int?
    ) throws(KeychainError) -> [IdentityRecord] {
        var settled: [IdentityRecord] = []
        for var identity in identities {
            let halves = try constraints.settle([identity.certificate, identity.key], authentication, limit: nil)
            guard halves.count == 2 else { continue }
            (identity.certificate, identity.key) = (halves[0], halves[1])
            settled.append(identity)
            if settled.count == limit { break }
        }
        return settled
    }

    public func add(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        let authentication = identities.first?.key.authentication ?? Authentication()
        let context = try constraints.provenContext(authentication, of: caller)
        let caller = try Authorizer.authorize(caller)
        try IdentityAddition.check(identities)
        var pairs: [(certificate: ItemRecord, key: ItemRecord)] = []
        for identity in identities {
            guard identity.certificate.itemClass == .certificate, identity.key.itemClass == .key else {
                throw .parameter("an identity must consist of a certificate and a key")
            }
            let (certificate, key) = (
                try newItems.record(of: identity.certificate, for: caller),
                try newItems.record(of: identity.key, for: caller)
            )
            pairs.append((certificate, key))
        }
        let new = pairs
        let constrained = (new.flatMap { [$0.certificate, $0.key] }).first { $0.accessControlFlags != nil }
        let use = ConstraintUse(
            context?.keys, binding: try constraints.binding(for: constrained?.accessControlFlags, context))
        return try constraints.runConstrained(
            .key, context, new: (constrained?.promptLabel ?? "", constrained?.accessControlFlags)
        ) { () throws(StoreError) in
            try keychain.store.transaction(constraints: use) { (items) throws(StoreError) in
                var count = 0
                for pair in new {
                    let stored = [try items.addUnlessPresent(pair.certificate), try items.addUnlessPresent(pair.key)]
                        .count { $0 }
                    guard stored > 0 else { throw .duplicate }
                    count += stored
                }
                return count
            }
        }
    }

    /// Updates the certificates, then the keys; each item gets those attributes that its class has.
    /// All items change, or none.
    func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity)
        throws(KeychainError) -> Int
    {
        guard update.data == nil else { throw .parameter("an identity has no data that could be updated") }
        let context = try constraints.provenContext(query.authentication, of: caller)
        let use = ConstraintUse(
            context?.keys, binding: try constraints.binding(for: update.accessControlFlags, context))
        let caller = try Authorizer.authorize(caller)
        let search = try PairSearch(query, for: caller, to: .write)
        let group = try update.accessGroup.map { (name) throws(KeychainError) in try caller.groupForMove(named: name) }
        let settings = try ChangeSettings(keychain)
        var reached = ItemClass.certificate
        return try constraints.runConstrained(
            reached, context, new: (query.promptLabel, update.accessControlFlags)
        ) { () throws(StoreError) in
            try keychain.store.transaction(constraints: use) { (items) throws(StoreError) in
                let found = try items.pairedItems(search)
                for item in found.certificates + found.keys {
                    reached = item.itemClass
                    var own = update
                    own.attributes = update.attributes.filter { ItemSchema.of(item.itemClass)[$0.key] != nil }
                    let change = own
                    try items.update(Self.naming(item)) { (record) throws(KeychainError) in
                        try ItemRules.applying(change, to: record, group: group, settings)
                    }
                }
                return found.pairCount
            }
        }
    }

    /// Deletes the certificates, then the keys that no other certificate uses. All items are
    /// deleted, or none.
    func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        let caller = try Authorizer.authorize(caller)
        let search = try PairSearch(query, for: caller, to: .write)
        let others = try caller.search(ItemQuery(.certificate, synchronizable: .any), for: .read)
        let now = keychain.now()
        return try keychain.run { () throws(StoreError) in
            try keychain.store.transaction(isDeletion: true) { (items) throws(StoreError) in
                let found = try items.pairedItems(search)
                for certificate in found.certificates {
                    try items.remove(Self.naming(certificate), now: now)
                }
                for key in found.keys {
                    var remaining = others
                    remaining.attributes = [.publicKeyHash: key[.applicationLabel] ?? .data([])]
                    if try items.records(of: remaining).isEmpty { try items.remove(Self.naming(key), now: now) }
                }
                return found.pairCount
            }
        }
    }

    /// Returns the search that matches only `item`, the result of an earlier search.
    private static func naming(_ item: ItemRecord) -> ItemSearch {
        ItemSearch(item.itemClass, groups: .only([item.accessGroup]), synchronizable: .any, identifier: item.identifier)
    }
}

extension PairSearch {
    /// The two searches of a query for identities, each restricted to the groups that the caller
    /// may read or write.
    fileprivate init(_ query: ItemQuery, for caller: AuthorizedCaller, to access: AuthorizedCaller.Access)
        throws(KeychainError)
    {
        var certificates = query
        certificates.itemClass = .certificate
        certificates.persistentReference = query.persistentReference.map {
            PersistentReference(.certificate, $0.identifier)
        }
        certificates.attributes = query.attributes.filter { Self.ofCertificate.contains($0.key) }
        certificates.match.items = query.match.items.map {
            Set($0.map { PersistentReference(.certificate, $0.identifier) })
        }
        var keys = query
        keys.itemClass = .key
        keys.persistentReference = nil
        keys.match = MatchOptions()
        keys.match.ignoresCase = query.match.ignoresCase
        keys.attributes = query.attributes.filter { !Self.ofCertificate.contains($0.key) }
        var certificateSearch = try caller.search(certificates, for: access)
        // The caller must have write access to the key as well, not only to the certificate.
        // `isPrivate` and `keyClass` are set after narrowing because the caller did not give them:
        // they must not make a bulk change count as one that names its items.
        var keySearch = try caller.search(keys, for: access)
        // Public keys have `isPrivate` set, too (§6.4).
        keySearch.attributes[.isPrivate] = .number(1)
        keySearch.attributes[.keyClass] = .number(KeyHalf.privateKey.rawValue)
        // A query that names one half means one pair: the own one, before one of the shared group.
        if [certificateSearch.groupOrder, keySearch.groupOrder].contains(.firstGroupElseOthers) {
            (certificateSearch.groupOrder, keySearch.groupOrder) = (.firstGroupElseOthers, .firstGroupElseOthers)
        }
        self.init(certificates: certificateSearch, keys: keySearch)
    }

    /// The attributes that come from the certificate of the pair; all others come from the key.
    private static let ofCertificate: Set<ItemAttribute> = [
        .label, .issuer, .serialNumber, .subjectKeyIdentifier, .tokenIdentifier, .certificateType, .certificateEncoding,
        .subject,
        .publicKeyHash,
    ]
}

extension ItemQuery {
    var isAboutIdentities: Bool { (persistentReference?.itemClass ?? itemClass) == .identity }
}
