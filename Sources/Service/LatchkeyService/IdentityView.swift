// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore

/// Identities: each pair of a certificate and the private key whose `klbl` is the certificate's `pkhh` (keychain-behaviour §1.4, idnt).
struct IdentityView {
    let store: KeychainStore

    /// The identities that the query admits. References and data of identities come with the engine of certificates.
    func matches(_ query: ItemQuery, for caller: AuthorizedCaller) throws(KeychainError) -> ItemMatches {
        var keys = query
        keys.itemClass = .key
        keys.persistentReference = nil
        keys.attributes = query.attributes.filter { ItemSchema.of(.certificate)[$0.key] == nil }
        keys.attributes[.isPrivate] = .number(1)
        var certificates = query
        certificates.itemClass = .certificate
        certificates.persistentReference = query.persistentReference.map { PersistentReference(.certificate, $0.identifier) }
        certificates.attributes = query.attributes.filter { ItemSchema.of(.certificate)[$0.key] != nil }
        do throws(StoreError) {
            let found = try store.search(try refusing(caller, certificates), limit: nil, withSecrets: false)
            let holders = try store.search(try refusing(caller, keys), limit: nil, withSecrets: false)
            let hashes = Set(holders.records.compactMap { $0[.applicationLabel]?.canonicalBytes })
            let pairs = found.records.filter { record in record[.publicKeyHash].map { hashes.contains($0.canonicalBytes) } ?? false }
            guard pairs.isEmpty, found.damaged.isEmpty else {
                throw StoreError.refused(KeychainError(.unimplemented, "identities cannot be returned by this version"))
            }
            throw StoreError.refused(.itemNotFound)
        } catch {
            throw KeychainError(error)
        }
    }

    private func refusing(_ caller: AuthorizedCaller, _ query: ItemQuery) throws(StoreError) -> ItemSearch {
        do {
            return try caller.search(query, for: .read)
        } catch {
            throw .refused(error)
        }
    }
}
