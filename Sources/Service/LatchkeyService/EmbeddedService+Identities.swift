// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore

/// Identities: each pair of a certificate and the private key whose `klbl` is the certificate's `pkhh` (keychain-behaviour §1.4, idnt). They have
/// no rows of their own.
extension EmbeddedService {
    /// A certificate and a key that belong together.
    private struct Pair {
        let certificate: ItemRecord
        let key: ItemRecord

        /// The two as one item: the key, with what the certificate says laid over it, and the certificate's identifier.
        var record: ItemRecord {
            var record = key
            record.itemClass = .identity
            record.identifier = certificate.identifier
            record.attributes.merge(certificate.attributes) { _, certificate in certificate }
            return record
        }
    }

    func identities(_ query: ItemQuery, returning: ReturnTypes, for caller: AuthorizedCaller) throws(KeychainError) -> ItemMatches {
        let pairs = try pairs(query, for: caller, to: .read, withSecrets: returning.contains(.data))
        guard !pairs.isEmpty else { throw .itemNotFound }
        var records = pairs.map(\.record)
        if let limit = (query.limit ?? .one).count { records = Array(records.prefix(limit)) }
        guard !records.isEmpty else { throw .itemNotFound }
        try KeyRules.withhold(from: &records, returning)
        return ItemMatches(records: records, damaged: 0)
    }

    /// Changes the certificate, then the key, each as far as it has the attributes.
    func updateIdentities(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError) -> Int {
        guard update.data == nil else { throw .parameter("an identity has no data of its own to be changed") }
        let pairs = try pairs(query, for: try Authoriser.authorize(caller), to: .write)
        guard !pairs.isEmpty else { throw .itemNotFound }
        var seen: Set<ItemIdentifier> = []
        for item in pairs.flatMap({ [$0.certificate, $0.key] }) where seen.insert(item.identifier).inserted {
            var own = update
            own.attributes = update.attributes.filter { ItemSchema.of(item.itemClass)[$0.key] != nil }
            _ = try self.update(Self.naming(item), with: own, from: caller)
        }
        return pairs.count
    }

    /// Deletes the certificate, then the key where no other certificate is for it.
    func deleteIdentities(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        let authorized = try Authoriser.authorize(caller)
        let pairs = try pairs(query, for: authorized, to: .write)
        guard !pairs.isEmpty else { throw .itemNotFound }
        var seen: Set<ItemIdentifier> = []
        // One certificate may be for several keys.
        for certificate in pairs.map(\.certificate) where seen.insert(certificate.identifier).inserted {
            _ = try delete(Self.naming(certificate), from: caller)
        }
        for key in pairs.map(\.key) where seen.insert(key.identifier).inserted {
            let others = ItemQuery(
                .certificate, attributes: [.publicKeyHash: key[.applicationLabel] ?? .data([])], synchronizable: .any)
            let search = try authorized.search(others, for: .read)
            let remaining = try run { () throws(StoreError) in try store.search(search, limit: 1, withSecrets: false) }
            if remaining.records.isEmpty { _ = try delete(Self.naming(key), from: caller) }
        }
        return pairs.count
    }

    private static func naming(_ item: ItemRecord) -> ItemQuery {
        ItemQuery(item.itemClass, synchronizable: .any, persistentReference: item.persistentReference)
    }

    /// In the order in which the certificates were added.
    private func pairs(
        _ query: ItemQuery, for caller: AuthorizedCaller, to access: AuthorizedCaller.Access, withSecrets: Bool = false
    ) throws(KeychainError) -> [Pair] {
        var certificates = query
        certificates.itemClass = .certificate
        certificates.persistentReference = query.persistentReference.map { PersistentReference(.certificate, $0.identifier) }
        certificates.attributes = query.attributes.filter { Self.ofCertificate.contains($0.key) }
        certificates.match.items = query.match.items.map { Set($0.map { PersistentReference(.certificate, $0.identifier) }) }
        var keys = query
        keys.itemClass = .key
        keys.persistentReference = nil
        keys.match = MatchOptions()
        keys.match.ignoresCase = query.match.ignoresCase
        keys.attributes = query.attributes.filter { !Self.ofCertificate.contains($0.key) }
        let found = try search(certificates, for: caller, to: access)
        // A key that could be read is not changed for its certificate's sake: it has to be the caller's to change as well. What it is said to be is not
        // the caller's word, and makes no careless change a pointed one.
        let holders = try search(keys, for: caller, to: access, withSecrets: withSecrets && !found.isEmpty) { search in
            // Public keys say of themselves that they are private, too (§6.4).
            search.attributes[.isPrivate] = .number(1)
            search.attributes[.keyClass] = .number(KeyHalf.privateKey.rawValue)
        }
        let byLabel = Dictionary(grouping: holders) { $0[.applicationLabel]?.canonicalBytes ?? [] }
        return found.flatMap { certificate in
            let hash = certificate[.publicKeyHash]?.canonicalBytes ?? []
            return hash.isEmpty ? [] : (byLabel[hash] ?? []).map { Pair(certificate: certificate, key: $0) }
        }
    }

    private func search(
        _ query: ItemQuery, for caller: AuthorizedCaller, to access: AuthorizedCaller.Access, withSecrets: Bool = false,
        narrowing: (inout ItemSearch) -> Void = { _ in }
    ) throws(KeychainError) -> [ItemRecord] {
        var narrowed = try caller.search(query, for: access)
        narrowing(&narrowed)
        let search = narrowed
        return try run { () throws(StoreError) in try store.search(search, limit: nil, withSecrets: withSecrets).records }
    }

    /// The attributes that are the certificate's in the pair; all others are the key's.
    private static let ofCertificate: Set<ItemAttribute> = [
        .label, .issuer, .serialNumber, .subjectKeyIdentifier, .tokenIdentifier, .certificateType, .certificateEncoding, .subject,
        .publicKeyHash,
    ]
}

extension ItemQuery {
    var isAboutIdentities: Bool { (persistentReference?.itemClass ?? itemClass) == .identity }
}
