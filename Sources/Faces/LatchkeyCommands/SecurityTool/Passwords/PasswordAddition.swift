// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// Implements `add-generic-password` and `add-internet-password`, and the storing of `latchkey set`
/// and `generate`.
struct PasswordAddition {
    let itemClass: ItemClass
    let attributes: [ItemAttribute: AttributeValue]
    let accessGroup: String?
    /// nil for the default of a new item, and for no change of an existing one.
    var protection: ProtectionClass?
    /// macOS's name for the call, with the keychain; nil for Latchkey's own commands.
    var function: String?

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        guard arguments.operands.count <= 1 else { throw .usage("at most one keychain is expected") }
        let addition = PasswordAddition(
            itemClass: itemClass, attributes: try arguments.attributes(), accessGroup: arguments.accessGroup,
            function: "SecKeychainItemCreateFromContent (\(arguments.operands.first?.text ?? "<default>"))")
        let password = try PasswordInput.read(arguments, in: session)
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        try addition.store(password, in: keychain, replaces: arguments.contains("-U"))
    }

    /// Stores the item.
    ///
    /// - Parameter replaces: whether an existing item with the same key is updated.
    /// - Throws: errSecDuplicateItem if there is such an item and it is not updated.
    func store(_ password: SharedSecret?, in keychain: KeychainSession, replaces: Bool) throws(CommandFailure) {
        if replaces {
            try replace(password, in: keychain)
        } else {
            try CommandFailure.mapErrors(function) { () throws(KeychainError) in
                try add(password, to: keychain)
            }
        }
    }

    /// Adds the item. Without a label, the service or the server becomes the label.
    private func add(_ password: SharedSecret?, to keychain: KeychainSession) throws(KeychainError) {
        var attributes = attributes
        if attributes[.label] == nil { attributes[.label] = attributes[.service] ?? attributes[.server] }
        let secrets = ItemSecrets(data: password ?? SharedSecret(copying: []))
        let item = ItemAddition(
            itemClass, attributes: attributes, secrets: secrets, accessGroup: accessGroup, protection: protection)
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
        guard let found = try PasswordSearch.existing(query, returning: [], in: keychain) else { return false }
        let item = ItemQuery(itemClass, synchronizable: .any, persistentReference: found.persistentReference)
        do {
            let update = ItemUpdate(attributes: attributes, data: password, protection: protection)
            try keychain.update(item, with: update)
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
