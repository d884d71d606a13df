// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService

/// The records of the Secret Service in a keychain, beside passwords: items without data in the group
/// ``AccessGroup/collections``.
struct KeychainRecords: Sendable {
    /// The subject of a record. The raw value is the service of its item.
    enum Kind: String {
        /// The account is the name of a collection, the label its label.
        case collection = "org.freedesktop.Secret.Collection"
        /// The account is an alias, the label the name of a collection.
        case alias = "org.freedesktop.Secret.Alias"
        /// The account is the name of a setting, the label its value.
        case setting = "org.freedesktop.Secret.Setting"
        /// The account is a consent.
        case consent = "org.freedesktop.Secret.Consent"
    }

    private let keychain: KeychainSession

    init(_ keychain: KeychainSession) { self.keychain = keychain }

    // MARK: Reading

    /// Returns the records; those of a closed class are locked matches.
    func all(_ kind: Kind, _ account: String? = nil) throws(KeychainError) -> ItemMatches {
        var query = Self.query(kind, account)
        query.lookupAttributes = .empty
        var found = try keychain.copyMatching(query, returning: .attributes)
        // An attested group may have the same name.
        found.records.removeAll { $0.accessGroup != .collections }
        found.locked.removeAll { $0.accessGroup != .collections }
        return found
    }

    /// Returns the number of matching items, also of locked ones.
    func count(of query: ItemQuery) throws(KeychainError) -> Int {
        var count = 0
        try keychain.copyMatching(query, returning: .persistentReference) {
            count = 0
        } inParts: { part in
            count += part.records.count + part.locked.count
        }
        return count
    }

    // MARK: Changing

    /// Changes the label of a record, or adds the record.
    func set(_ kind: Kind, _ account: String, label: String) throws(KeychainError) {
        let update = ItemUpdate(attributes: [.label: .string(label)])
        _ = try storing(kind, account, label) { (item) throws(KeychainError) in
            try keychain.store(item, inPlaceOf: Self.query(kind, account), with: update).record
        }
    }

    /// - Throws: errSecDuplicateItem if there is one with this account.
    func add(_ kind: Kind, _ account: String, label: String) throws(KeychainError) -> ItemRecord {
        try storing(kind, account, label) { (item) throws(KeychainError) in try keychain.add(item) }
    }

    /// Stores a record. It has no secret, and is open while the keychain is locked: clients ask for the paths of
    /// collections then. Where the administrator does not allow that, it is open after the first unlock.
    private func storing(
        _ kind: Kind, _ account: String, _ label: String, _ store: (ItemAddition) throws(KeychainError) -> ItemRecord
    ) throws(KeychainError) -> ItemRecord {
        var attributes = Self.query(kind, account).attributes
        attributes[.label] = .string(label)
        var item = ItemAddition(
            .genericPassword, attributes: attributes, accessGroup: AccessGroup.collections.name, protection: .always,
            authentication: Authentication(.fail))
        do throws(KeychainError) {
            return try store(item)
        } catch {
            guard error.status == .param else { throw error }
            item.protection = .afterFirstUnlock
            return try store(item)
        }
    }

    /// Deletes a record, if there is one.
    func delete(_ kind: Kind, _ account: String) throws(KeychainError) {
        _ = try keychain.delete(Self.query(kind, account))
    }

    private static func query(_ kind: Kind, _ account: String?) -> ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [.service: .string(kind.rawValue)]
        if let account { attributes[.account] = .string(account) }
        return ItemQuery(
            .genericPassword, attributes: attributes, accessGroup: AccessGroup.collections.name, synchronizable: .any,
            limit: .all, authentication: Authentication(.fail))
    }
}
