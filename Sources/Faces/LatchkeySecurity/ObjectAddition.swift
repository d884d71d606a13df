// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService

/// One call of `SecItemAdd`. It can store several items: the halves of identities, or the items of
/// kSecUseItemList.
struct ObjectAddition {
    /// How the call may get the authentication for the access controls.
    private let authentication: Authentication
    /// The items stored so far.
    private var stored: [PersistentReference] = []

    init(authentication: Authentication) {
        self.authentication = authentication
    }

    /// Stores every element of the request, or nothing.
    mutating func addAll(of request: AddRequest) throws(KeychainError) -> [FoundItem] {
        switch request.content {
        case .item(let addition): return [.item(try addOne(authenticated(addition)))]
        case .objects(let objects, let given):
            let elements = try objects.map { (object) throws(KeychainError) in
                try object.items().map {
                    authenticated(given.addition($0.itemClass, standard: $0.attributes, $0.data))
                }
            }
            guard objects.first?.itemClass != .identity else {
                return try Self.addIdentities(elements, returning: request.returning).map { .identity($0) }
            }
            return try addEach(of: elements).map { .item($0) }
        }
    }

    private func authenticated(_ addition: ItemAddition) -> ItemAddition {
        var addition = addition
        addition.authentication = authentication
        return addition
    }

    private mutating func addEach(of elements: [[ItemAddition]]) throws(KeychainError) -> [ItemRecord] {
        do throws(KeychainError) {
            var records: [ItemRecord] = []
            for element in elements { for item in element { records.append(try addOne(item)) } }
            return records
        } catch {
            rollBack()
            throw error
        }
    }

    private mutating func addOne(_ addition: ItemAddition) throws(KeychainError) -> ItemRecord {
        let record = try KeychainClient.session().add(addition)
        stored.append(record.persistentReference)
        return record
    }

    // MARK: Identities

    /// Stores certificates and their keys in one transaction. One half of each pair may be stored
    /// already, but not both.
    ///
    /// - Parameter elements: each consists of a certificate and its key.
    /// - Returns: the stored identities; empty if the caller asked for no result.
    private static func addIdentities(_ elements: [[ItemAddition]], returning: ReturnTypes) throws(KeychainError)
        -> [IdentityRecord]
    {
        var identities: [IdentityAddition] = []
        for halves in elements {
            guard let certificate = halves.first, let key = halves.last else { continue }
            identities.append(IdentityAddition(certificate: certificate, key: key))
        }
        _ = try KeychainClient.session().addIdentities(identities)
        guard !returning.isEmpty else { return [] }
        var found: [IdentityRecord] = []
        for identity in identities { found.append(try find(identity, returning: returning)) }
        return found
    }

    /// Returns the stored identity, found by the primary keys of its halves. Another access group
    /// may have an equal one; the stored one has the newest half.
    private static func find(
        _ identity: IdentityAddition, returning: ReturnTypes
    ) throws(KeychainError) -> IdentityRecord {
        let certificate = identity.certificate
        let identifying = certificate.attributes.filter { [.certificateType, .issuer, .serialNumber].contains($0.key) }
        let query = ItemQuery(
            .identity, attributes: identifying, accessGroup: certificate.accessGroup,
            synchronizable: certificate.isSynchronizable ? .synchronized : .local, limit: .all,
            authentication: certificate.authentication)
        // With the attributes, a key with protected data does not fail the call. The items of the call are already
        // stored.
        let found = try KeychainClient.session().copyIdentities(query, returning: returning.union(.attributes))
        let primaryKey = Set(ItemSchema.of(.key).primaryKey.map(\.attribute))
        let added = identity.key.attributes.filter { primaryKey.contains($0.key) }
        let matches = found.filter { pair in
            added.allSatisfy { attribute, value in pair.key[attribute]?.matches(value) == true }
        }
        guard let stored = matches.max(by: { $0.newestCreation < $1.newestCreation }) else { throw .itemNotFound }
        return stored
    }

    // MARK: Rollback

    /// Deletes the stored items as far as possible. The caller throws the original error.
    private func rollBack() {
        for reference in stored {
            let query = ItemQuery(nil, synchronizable: .any, persistentReference: reference)
            _ = try? KeychainClient.session().delete(query)
        }
    }
}

extension IdentityRecord {
    /// When the later one of the halves was created, in seconds since 2001.
    fileprivate var newestCreation: Double {
        [certificate, key].map { item in
            guard case .date(let seconds) = item[.creationDate] else { return 0 }
            return seconds
        }.max() ?? 0
    }
}
