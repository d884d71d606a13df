// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// Implements `add-generic-password` and `add-internet-password`.
struct PasswordAddition {
    let itemClass: ItemClass
    let attributes: [ItemAttribute: AttributeValue]
    let accessGroup: String?
    let session: CommandSession
    /// macOS's name for the call, with the keychain.
    private let function: String

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        guard arguments.operands.count <= 1 else { throw .usage("at most one keychain is expected") }
        let addition = PasswordAddition(
            itemClass: itemClass, attributes: try arguments.attributes(), accessGroup: arguments.accessGroup,
            session: session,
            function: "SecKeychainItemCreateFromContent (\(arguments.operands.first?.text ?? "<default>"))")
        let password = try PasswordInput.read(arguments, in: session)
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        if arguments.contains("-U") {
            try addition.replace(password, in: keychain)
        } else {
            try CommandFailure.mapErrors(addition.function) { () throws(KeychainError) in
                try addition.add(password, to: keychain)
            }
        }
    }

    /// Adds the item. Without a label, the service or the server becomes the label.
    private func add(_ password: SharedSecret?, to keychain: KeychainSession) throws(KeychainError) {
        var attributes = attributes
        if attributes[.label] == nil { attributes[.label] = attributes[.service] ?? attributes[.server] }
        let secrets = ItemSecrets(data: password ?? SharedSecret(copying: []))
        let item = ItemAddition(itemClass, attributes: attributes, secrets: secrets, accessGroup: accessGroup)
        _ = try keychain.add(item)
    }

    /// Updates the item with the same key, or adds it. Never deletes: either the old item or the
    /// new one exists at any time.
    private func replace(_ password: SharedSecret?, in keychain: KeychainSession) throws(CommandFailure) {
        // Another process may add or delete the item between the two steps. The steps are then
        // repeated, a few times.
        for attempt in 1... {
            do throws(KeychainError) {
                if try update(password, in: keychain) { return }
                return try add(password, to: keychain)
            } catch {
                let isConcurrentChange = error.status == .duplicateItem || error.status == .itemNotFound
                guard isConcurrentChange, attempt < Self.maxAttempts else { throw .status(error, of: function) }
            }
        }
    }

    /// - Returns: whether the item exists.
    private func update(_ password: SharedSecret?, in keychain: KeychainSession) throws(KeychainError) -> Bool {
        let schema = ItemSchema.of(itemClass)
        let key = attributes.filter { schema[$0.key]?.isPrimaryKey == true }
        // If no group is named, searches only the group of a new item: the same key in another
        // group is a different item.
        let query = ItemQuery(
            itemClass, attributes: key, accessGroup: accessGroup ?? AccessGroup.shared.name, limit: .one)
        let matches = try PasswordSearch.matches(
            query, returning: .persistentReference, in: keychain)
        guard let found = matches.records.first else { return false }
        let item = ItemQuery(itemClass, synchronizable: .any, persistentReference: found.persistentReference)
        do {
            try keychain.update(item, with: ItemUpdate(attributes: attributes, data: password))
            return true
        } catch {
            // The item was deleted meanwhile, or its data is damaged. It counts as absent; adding
            // the item moves a damaged one aside.
            guard error.status == .itemNotFound else { throw error }
            return false
        }
    }

    private static let maxAttempts = 5
}
