// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// Items that record what a keychain itself does not have: the labels of collections, and the
/// default one. They have no secret, and can be read while the keychain is locked.
struct KeychainMarkers {
    /// What a marker records. The raw value is its service.
    enum Kind: String, CaseIterable {
        /// The account is the name of a collection.
        case collection = "org.freedesktop.Secret.Collection"
        /// The account is an alias; the label is the name of a collection.
        case alias = "org.freedesktop.Secret.Alias"
    }

    private let keychain: KeychainSession

    init(_ keychain: KeychainSession) { self.keychain = keychain }

    static func isMarker(_ record: ItemRecord) -> Bool {
        guard record.itemClass == .genericPassword, record.accessGroup == .shared else { return false }
        return record[.service]?.text.flatMap { Kind(rawValue: $0) } != nil
    }

    func all(_ kind: Kind) throws(KeychainError) -> [ItemRecord] {
        do throws(KeychainError) {
            return try keychain.copyMatching(query(kind, nil), returning: .attributes).records
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }

    func first(_ kind: Kind, _ account: String) throws(KeychainError) -> ItemRecord? {
        do throws(KeychainError) {
            return try keychain.copyMatching(query(kind, account), returning: .attributes).records.first
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return nil
        }
    }

    func set(_ kind: Kind, _ account: String, label: String) throws(KeychainError) {
        let query = query(kind, account)
        do throws(KeychainError) {
            try keychain.update(query, with: ItemUpdate(attributes: [.label: .string(label)]))
        } catch {
            guard error.status == .itemNotFound else { throw error }
            var attributes = query.attributes
            attributes[.label] = .string(label)
            _ = try keychain.add(
                ItemAddition(
                    .genericPassword, attributes: attributes, accessGroup: AccessGroup.shared.name,
                    protection: .always))
        }
    }

    func remove(_ kind: Kind, _ account: String) throws(KeychainError) {
        try keychain.delete(query(kind, account))
    }

    private func query(_ kind: Kind, _ account: String?) -> ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [.service: .string(kind.rawValue)]
        if let account { attributes[.account] = .string(account) }
        return ItemQuery(
            .genericPassword, attributes: attributes, accessGroup: AccessGroup.shared.name, synchronizable: .any,
            limit: .all)
    }
}
