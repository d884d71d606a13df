// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The keychain that gets the items. Nothing in it is replaced or deleted.
struct ImportDestination {
    private let keychain: KeychainSession

    init(_ keychain: KeychainSession) { self.keychain = keychain }

    /// Returns the secrets of the items with exactly these attributes; nil for one that needs the person, who
    /// is not asked.
    ///
    /// - Throws: errSecInteractionNotAllowed if the keychain is locked.
    func secrets(of key: ItemGroup.Key) throws(KeychainError) -> [SecretComparison.PresentSecret] {
        var query = ItemQuery(
            nil, accessGroup: key.accessGroup, synchronizable: .any, limit: .all,
            authentication: Authentication(.fail))
        query.lookupAttributes = key.attributes
        do throws(KeychainError) {
            var found = try matches(query)
            if let locked = found.locked.first {
                // A search answers although the keychain is locked; reading an item unlocks it on demand.
                _ = try secret(locked.reference, in: key.accessGroup)
                found = try matches(query)
                guard found.locked.isEmpty else { throw KeychainError.interactionNotAllowed }
            }
            var secrets: [SecretComparison.PresentSecret] = []
            for record in found.records where record.lookupAttributes == key.attributes {
                guard let secret = try secret(record.persistentReference, in: key.accessGroup) else { continue }
                secrets.append(secret)
            }
            return secrets
        } catch {
            guard error.authentication == .failed(.notInteractive) else { throw error }
            return [nil]
        }
    }

    /// Adds an item, with its creation date. The date of its last change is the present one.
    func add(_ item: SourceItem, _ secret: SourceSecret, to group: String) throws(KeychainError) {
        let record = try keychain.add(
            ItemAddition(
                item.attributes, label: item.label, data: secret.bytes, contentType: secret.contentType,
                replaces: false, accessGroup: group))
        guard let created = Self.date(item.created), created < record.created else { return }
        // Only an update may set the date.
        let stored = Self.query(record.persistentReference, in: group)
        guard try keychain.update(stored, with: ItemUpdate(created: created)) > 0 else { throw .itemNotFound }
    }

    // MARK: Queries

    private func matches(_ query: ItemQuery) throws(KeychainError) -> ItemMatches {
        try keychain.copyMatching(query, returning: .attributes)
    }

    /// Returns the secret of an item, empty for none; nil if there is no such item any more.
    private func secret(
        _ reference: PersistentReference, in group: String
    ) throws(KeychainError) -> SharedSecret? {
        let found = try keychain.copyMatching(Self.query(reference, in: group), returning: .data)
        return found.records.first.map { $0.secrets?.data ?? SharedSecret(copying: [UInt8]()) }
    }

    private static func query(_ reference: PersistentReference, in group: String) -> ItemQuery {
        ItemQuery(
            nil, accessGroup: group, synchronizable: .any, persistentReference: reference, limit: .one,
            authentication: Authentication(.fail))
    }

    /// Seconds since 2001, from seconds since 1970; nil for an unknown or an impossible time.
    private static func date(_ seconds: UInt64) -> Double? {
        guard (1...maxTime).contains(seconds) else { return nil }
        return Double(seconds) - 978_307_200
    }

    /// The end of the year 9999.
    private static let maxTime: UInt64 = 253_402_300_799
}
