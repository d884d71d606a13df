// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore

/// Identities: the pairs of a certificate and the private key whose `klbl` equals the certificate's
/// `pkhh` (keychain-behaviour §1.4, idnt). They have no rows of their own.
extension EmbeddedService {
    func identities(_ query: ItemQuery, returning: ReturnTypes, for caller: AuthorizedCaller) throws(KeychainError)
        -> ItemMatches
    {
        let search = try IdentitySearch(query, for: caller, to: .read)
        let pairs = try run { () throws(StoreError) in
            try search.pairs { (search, areKeys) throws(StoreError) in
                try store.search(search, limit: nil, withSecrets: areKeys && returning.contains(.data)).records
            }
        }
        guard !pairs.isEmpty else { throw .itemNotFound }
        var records = pairs.map(\.record)
        if let limit = (query.limit ?? .one).count { records = Array(records.prefix(limit)) }
        guard !records.isEmpty else { throw .itemNotFound }
        try KeyRules.removeProtectedData(from: &records, returning)
        return ItemMatches(records: records, damaged: 0)
    }

    public func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        let caller = try Authorizer.authorize(caller)
        try IdentityAddition.check(identities)
        var pairs: [IdentityPair] = []
        for identity in identities {
            guard identity.certificate.itemClass == .certificate, identity.key.itemClass == .key else {
                throw .parameter("an identity must consist of a certificate and a key")
            }
            let (certificate, key) = (
                try record(of: identity.certificate, for: caller), try record(of: identity.key, for: caller)
            )
            pairs.append(IdentityPair(certificate: certificate, key: key))
        }
        let new = pairs
        return try run { () throws(StoreError) in
            try store.transaction { (items) throws(StoreError) in
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
    func updateIdentities(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity)
        throws(KeychainError) -> Int
    {
        guard update.data == nil else { throw .parameter("an identity has no data that could be updated") }
        let caller = try Authorizer.authorize(caller)
        let search = try IdentitySearch(query, for: caller, to: .write)
        let group = try update.accessGroup.map { (name) throws(KeychainError) in try caller.groupForMove(named: name) }
        let now = clock()
        let count = try run { () throws(StoreError) in
            try store.transaction { (items) throws(StoreError) in
                let pairs = try search.pairs { (search, _) throws(StoreError) in try items.records(of: search) }
                for item in Self.distinct(pairs.map(\.certificate) + pairs.map(\.key)) {
                    var own = update
                    own.attributes = update.attributes.filter { ItemSchema.of(item.itemClass)[$0.key] != nil }
                    let change = own
                    try items.update(Self.naming(item)) { (record) throws(KeychainError) in
                        try ItemRules.applying(change, to: record, group: group, now: now)
                    }
                }
                return pairs.count
            }
        }
        guard count > 0 else { throw .itemNotFound }
        return count
    }

    /// Deletes the certificates, then the keys that no other certificate uses. All items are
    /// deleted, or none.
    func deleteIdentities(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        let caller = try Authorizer.authorize(caller)
        let search = try IdentitySearch(query, for: caller, to: .write)
        let others = try caller.search(ItemQuery(.certificate, synchronizable: .any), for: .read)
        let now = clock()
        let count = try run { () throws(StoreError) in
            try store.transaction { (items) throws(StoreError) in
                let pairs = try search.pairs { (search, _) throws(StoreError) in try items.records(of: search) }
                // One certificate may belong to several keys.
                for certificate in Self.distinct(pairs.map(\.certificate)) {
                    try items.remove(Self.naming(certificate), now: now)
                }
                for key in Self.distinct(pairs.map(\.key)) {
                    var remaining = others
                    remaining.attributes = [.publicKeyHash: key[.applicationLabel] ?? .data([])]
                    if try items.records(of: remaining).isEmpty { try items.remove(Self.naming(key), now: now) }
                }
                return pairs.count
            }
        }
        guard count > 0 else { throw .itemNotFound }
        return count
    }

    /// Returns the search that matches only `item`, which was found before.
    private static func naming(_ item: ItemRecord) -> ItemSearch {
        ItemSearch(item.itemClass, groups: .only([item.accessGroup]), synchronizable: .any, identifier: item.identifier)
    }

    private static func distinct(_ items: [ItemRecord]) -> [ItemRecord] {
        var seen: Set<ItemIdentifier> = []
        return items.filter { seen.insert($0.identifier).inserted }
    }
}

/// A certificate and the private key that belongs to it.
private struct IdentityPair {
    let certificate: ItemRecord
    let key: ItemRecord

    /// The pair as one item: the key's attributes overridden by the certificate's, under the
    /// certificate's identifier.
    var record: ItemRecord {
        var record = key
        record.itemClass = .identity
        record.identifier = certificate.identifier
        record.attributes.merge(certificate.attributes) { _, certificate in certificate }
        return record
    }
}

/// A query for identities, as the two searches whose results are joined.
private struct IdentitySearch {
    private let certificates: ItemSearch
    private let keys: ItemSearch

    init(_ query: ItemQuery, for caller: AuthorizedCaller, to access: AuthorizedCaller.Access) throws(KeychainError) {
        var certificates = query
        certificates.itemClass = .certificate
        certificates.persistentReference = query.persistentReference.map {
            PersistentReference(.certificate, $0.identifier)
        }
        certificates.attributes = query.attributes.filter { Self.ofCertificate.contains($0.key) }
        certificates.match.items = query.match.items.map {
            Set($0.map { PersistentReference(.certificate, $0.identifier) })
        }
        self.certificates = try caller.search(certificates, for: access)
        var keys = query
        keys.itemClass = .key
        keys.persistentReference = nil
        keys.match = MatchOptions()
        keys.match.ignoresCase = query.match.ignoresCase
        keys.attributes = query.attributes.filter { !Self.ofCertificate.contains($0.key) }
        // The caller must have write access to the key as well, not only to the certificate.
        // `isPrivate` and `keyClass` are set after narrowing because the caller did not give them:
        // they must not make a bulk change count as one that names its items.
        var search = try caller.search(keys, for: access)
        // Public keys have `isPrivate` set, too (§6.4).
        search.attributes[.isPrivate] = .number(1)
        search.attributes[.keyClass] = .number(KeyHalf.privateKey.rawValue)
        self.keys = search
    }

    /// Returns the pairs, in the order in which the certificates were added.
    ///
    /// - Parameter find: runs a search; its second parameter says whether the search is for keys
    ///   that may belong to a pair, so that their data may be needed.
    func pairs(_ find: (ItemSearch, _ areKeys: Bool) throws(StoreError) -> [ItemRecord]) throws(StoreError)
        -> [IdentityPair]
    {
        let found = try find(certificates, false)
        let byLabel = Dictionary(grouping: try find(keys, !found.isEmpty)) {
            $0[.applicationLabel]?.canonicalBytes ?? []
        }
        return found.flatMap { certificate in
            let hash = certificate[.publicKeyHash]?.canonicalBytes ?? []
            return hash.isEmpty ? [] : (byLabel[hash] ?? []).map { IdentityPair(certificate: certificate, key: $0) }
        }
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
