// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
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
    /// nil for none of a new item, and for no change of an existing one.
    var accessControlFlags: AccessControlFlags?
    /// macOS's name for the call, with the keychain; nil for Latchkey's own commands.
    var function: String?

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        guard arguments.operands.count <= 1 else { throw .usage("at most one keychain is expected") }
        var attributes = try arguments.attributes()
        let label = attributes[.label] ?? attributes[.service] ?? attributes[.server]
        attributes[.accessList] = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try arguments.accessList(named: label)
        }
        let addition = PasswordAddition(
            itemClass: itemClass, attributes: attributes, accessGroup: arguments.accessGroup,
            protection: try ProtectionClass.named(arguments["--accessible"]?.text),
            accessControlFlags: try AccessControlFlags.named(arguments["--access-control"]?.text),
            function: "SecKeychainItemCreateFromContent (\(arguments.operands.first?.text ?? "<default>"))")
        let person = try PersonPrompt(arguments)
        addition.protection?.warnIfAlwaysOpen(in: session)
        let password = try PasswordInput.read(arguments, in: session)
        let keychain = try KeychainOperand.changed(arguments.operands.first, in: session)
        _ = try addition.store(password, in: keychain.session, replaces: arguments.contains("-U"), for: person)
    }

    /// Stores the item.
    ///
    /// - Parameter replaces: whether an existing item with the same key is updated.
    /// - Returns: the item if it was added; nil if it was updated.
    /// - Throws: errSecDuplicateItem if there is such an item and it is not updated.
    func store(
        _ password: SharedSecret?, in keychain: KeychainSession, replaces: Bool, for person: PersonPrompt?
    ) throws(CommandFailure) -> ItemRecord? {
        if replaces { return try replace(password, in: keychain, for: person ?? PersonPrompt()) }
        return try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            try add(password, to: keychain, for: person ?? PersonPrompt())
        }
    }

    /// Adds the item. Without a label, the service or the server becomes the label.
    private func add(
        _ password: SharedSecret?, to keychain: KeychainSession, for person: PersonPrompt
    ) throws(KeychainError) -> ItemRecord {
        var attributes = attributes
        if attributes[.label] == nil { attributes[.label] = attributes[.service] ?? attributes[.server] }
        let secrets = ItemSecrets(data: password ?? SharedSecret(copying: []))
        let item = ItemAddition(
            itemClass, attributes: attributes, secrets: secrets, accessGroup: accessGroup,
            protection: protection ?? accessControlFlags.map { _ in .whenUnlocked },
            accessControlFlags: accessControlFlags)
        return try person.perform { (authentication) throws(KeychainError) in
            var item = item
            item.authentication = authentication
            return try keychain.add(item)
        }
    }

    /// Updates the item with the same key, or adds it. Never deletes: either the old item or the
    /// new one exists at any time.
    private func replace(
        _ password: SharedSecret?, in keychain: KeychainSession, for person: PersonPrompt
    ) throws(CommandFailure) -> ItemRecord? {
        // Another process may add or delete the item between the two steps. The steps are then
        // repeated, a few times.
        var attempt = 1
        while true {
            do throws(KeychainError) {
                if try update(password, in: keychain, for: person) { return nil }
                return try add(password, to: keychain, for: person)
            } catch {
                let isConcurrentChange = error.status == .duplicateItem || error.status == .itemNotFound
                guard isConcurrentChange, attempt < Self.maxAttempts else { throw .status(error, of: function) }
                attempt += 1
            }
        }
    }

    /// - Returns: whether the item exists.
    private func update(
        _ password: SharedSecret?, in keychain: KeychainSession, for person: PersonPrompt
    ) throws(KeychainError) -> Bool {
        let schema = ItemSchema.of(itemClass)
        let key = attributes.filter { schema[$0.key]?.isPrimaryKey == true }
        // If no group is named, searches only the group of a new item: the same key in another
        // group is a different item.
        let query = ItemQuery(
            itemClass, attributes: key, accessGroup: accessGroup ?? AccessGroup.shared.name, limit: .one)
        guard
            let found = try PasswordSearch.existing(
                query, returning: protection == nil ? [] : .attributes, in: keychain, for: person)
        else {
            return false
        }
        let item = ItemQuery(itemClass, synchronizable: .any, persistentReference: found.persistentReference)
        do throws(KeychainError) {
            // An access control contains the class, so that the two change together: another class
            // alone would remove the access control.
            let update = ItemUpdate(
                attributes: attributes, data: password,
                protection: protection ?? accessControlFlags.map { _ in found.protection },
                accessControlFlags: accessControlFlags ?? (protection == nil ? nil : found.accessControlFlags))
            try person.perform { (authentication) throws(KeychainError) in
                var item = item
                item.authentication = authentication
                _ = try keychain.update(item, with: update)
            }
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
