// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The items of a migration: new ones, and those of the keychain that have the secret already.
struct MigratedItems {
    private let keychain: KeychainSession
    /// The items that the migration makes.
    private(set) var new: [ItemReference: SharedSecret] = [:]

    init(_ keychain: KeychainSession) { self.keychain = keychain }

    /// Returns the reference to an item with the secret. If another secret has the name, the account gets a number.
    mutating func reference(to secret: SharedSecret, service: String, account: String) throws(KeychainError)
        -> ItemReference
    {
        for number in 1...Self.maxNumber {
            let reference = ItemReference(service: service, account: number == 1 ? account : "\(account)-\(number)")
            if let planned = new[reference] {
                if planned == secret { return reference }
            } else if try !exists(reference) {
                new[reference] = secret
                return reference
            } else if try has(reference, secret) {
                return reference
            }
        }
        throw KeychainError(
            .duplicateItem, "more than \(Self.maxNumber) items are named \(account)",
            hint: "--service names another one")
    }

    private static let maxNumber = 1000

    /// Stores a secret durably, unless the item with the name has it already.
    func store(_ secret: SharedSecret, as reference: ItemReference, label: String) throws(KeychainError) {
        let item = ItemAddition(
            .genericPassword, attributes: Self.key(reference).merging([.label: .string(label)]) { first, _ in first },
            secrets: ItemSecrets(data: secret), accessGroup: AccessGroup.shared.name)
        do throws(KeychainError) { _ = try keychain.add(item) } catch {
            guard error.status == .duplicateItem, try has(reference, secret) else { throw error }
        }
    }

    private static func key(_ reference: ItemReference) -> [ItemAttribute: AttributeValue] {
        [.service: .string(reference.service), .account: .string(reference.account)]
    }

    private func exists(_ reference: ItemReference) throws(KeychainError) -> Bool {
        try !matches(reference, returning: .attributes).isEmpty
    }

    /// Whether the item has the secret, as far as it can be read without asking the person.
    private func has(_ reference: ItemReference, _ secret: SharedSecret) throws(KeychainError) -> Bool {
        try matches(reference, returning: .data).contains { $0.secrets?.data == secret }
    }

    private func matches(_ reference: ItemReference, returning: ReturnTypes) throws(KeychainError) -> [ItemRecord] {
        var query = ItemQuery(
            .genericPassword, attributes: Self.key(reference), accessGroup: AccessGroup.shared.name, limit: .one)
        query.authentication.interaction = .skip
        return try keychain.copyMatching(query, returning: returning).records
    }
}
