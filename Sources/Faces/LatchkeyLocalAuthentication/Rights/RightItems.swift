// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The items of saved rights in a keychain: for each right a key, a secret if it has one, and the
/// record that names both.
struct RightItems {
    let keychain: KeychainSession

    init() throws(KeychainError) { keychain = try KeychainClient.session() }

    /// Stores the items of a right: all of them, or none.
    ///
    /// - Throws: errSecDuplicateItem if a right has this identifier.
    func add(
        _ requirement: LAAuthenticationRequirement.Kind, tag: Int, identifier: String, secret: SharedSecret?
    ) throws(KeychainError) -> (RightRecord, PersistentReference) {
        let made = try keychain.generateKey(key(requirement, identifier))
        var record = RightRecord(
            requirement: requirement, tag: Int64(tag), publicKey: made.publicKey,
            key: made.privateHalf.persistentReference)
        do throws(KeychainError) {
            if let secret {
                record.secret = try keychain.add(self.secret(secret, requirement, identifier)).persistentReference
            }
            return (record, try keychain.add(item(of: record, identifier)).persistentReference)
        } catch {
            // The first error is the one to report.
            try? delete(itemsOf: record)
            throw error
        }
    }

    /// Returns the right with an identifier.
    ///
    /// - Throws: errSecItemNotFound; errSecDecode if the record is damaged.
    func find(_ identifier: String) throws(KeychainError) -> (RightRecord, PersistentReference) {
        let found = try keychain.copyMatching(Self.records(identifier), returning: .data)
        guard let item = found.records.first else { throw .itemNotFound }
        guard let record = Self.record(of: item) else { throw KeychainError(.decode, "the stored right is damaged") }
        return (record, item.persistentReference)
    }

    /// Deletes a right with its key and its secret.
    func delete(_ record: RightRecord, at reference: PersistentReference) throws(KeychainError) {
        try delete(itemsOf: record)
        try delete(reference)
    }

    /// Deletes the rights that this program has saved. In the group that all programs without an
    /// identity share, rights of other programs stay.
    func deleteAll() throws(KeychainError) {
        let found = try keychain.copyMatching(Self.records(nil), returning: [.data, .attributes]).records
        for item in found where item.accessGroup != .shared || item.addedBy == keychain.caller.executable {
            if let record = Self.record(of: item) { try delete(itemsOf: record) }
            try delete(item.persistentReference)
        }
    }

    private func delete(itemsOf record: RightRecord) throws(KeychainError) {
        try delete(record.key)
        if let secret = record.secret { try delete(secret) }
    }

    /// Deletes an item; it is no error if it does not exist.
    private func delete(_ reference: PersistentReference) throws(KeychainError) {
        _ = try keychain.delete(
            ItemQuery(reference.itemClass, synchronizable: .any, persistentReference: reference))
    }
}

// MARK: Items

extension RightItems {
    /// The service of the records.
    static let service = "latchkey.right"
    /// The service of the secrets, and the prefix of the keys' tags.
    static let secretService = "latchkey.right.secret"

    private func key(_ requirement: LAAuthenticationRequirement.Kind, _ identifier: String) -> KeyGeneration {
        let tag = Array("\(Self.service).\(identifier)".utf8)
        return KeyGeneration(
            RightRecord.keyKind,
            privateHalf: ItemAddition(
                .key,
                attributes: [.applicationTag: .data(tag), .label: .string(identifier), .isExtractable: .number(0)],
                protection: .whenPasscodeSetThisDeviceOnly,
                accessControlFlags: requirement.flags.union(.privateKeyUsage)))
    }

    private func secret(
        _ secret: SharedSecret, _ requirement: LAAuthenticationRequirement.Kind, _ identifier: String
    ) -> ItemAddition {
        password(Self.secretService, identifier, secret, flags: requirement.flags)
    }

    private func item(of record: RightRecord, _ identifier: String) -> ItemAddition {
        password(Self.service, identifier, SharedSecret(copying: record.bytes), flags: nil)
    }

    private func password(
        _ service: String, _ identifier: String, _ data: SharedSecret, flags: AccessControlFlags?
    ) -> ItemAddition {
        ItemAddition(
            .genericPassword,
            attributes: [
                .service: .string(service), .account: .string(identifier), .label: .string(identifier),
                .itemDescription: .string("right"),
            ],
            secrets: ItemSecrets(data: data), protection: .whenPasscodeSetThisDeviceOnly, accessControlFlags: flags)
    }

    private static func records(_ identifier: String?) -> ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [.service: .string(service)]
        if let identifier { attributes[.account] = .string(identifier) }
        return ItemQuery(.genericPassword, attributes: attributes, limit: identifier == nil ? .all : .one)
    }

    private static func record(of item: ItemRecord) -> RightRecord? {
        item.secrets?.data.flatMap { data in RightRecord(bytes: data.withUnsafeBytes { Array($0) }) }
    }
}
