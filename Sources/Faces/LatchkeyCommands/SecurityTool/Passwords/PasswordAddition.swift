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
    /// - Throws: errSecDuplicateItem if there is such an item and it is not updated.
    func store(
        _ password: SharedSecret?, in keychain: KeychainSession, replaces: Bool, for person: PersonPrompt?
    ) throws(CommandFailure) -> StoredRecord {
        try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            try (person ?? PersonPrompt()).perform { (authentication) throws(KeychainError) in
                var item = newItem(password)
                item.authentication = authentication
                // To macOS's command, only an item with the same complete key is a duplicate.
                if !replaces, function != nil { return StoredRecord(try keychain.add(item), isReplacement: false) }
                return try keychain.store(item, inPlaceOf: key, with: replaces ? update(password) : nil)
            }
        }
    }

    /// Without a label, the service or the server becomes the label.
    private func newItem(_ password: SharedSecret?) -> ItemAddition {
        var attributes = attributes
        if attributes[.label] == nil { attributes[.label] = attributes[.service] ?? attributes[.server] }
        return ItemAddition(
            itemClass, attributes: attributes, secrets: ItemSecrets(data: password ?? SharedSecret(copying: [])),
            accessGroup: accessGroup, protection: protection ?? accessControlFlags.map { _ in .whenUnlocked },
            accessControlFlags: accessControlFlags)
    }

    /// The item with the same key. If no group is named, only that of a new item is searched: the same key in
    /// another group is a different item.
    private var key: ItemQuery {
        let schema = ItemSchema.of(itemClass)
        return ItemQuery(
            itemClass, attributes: attributes.filter { schema[$0.key]?.isPrimaryKey == true },
            accessGroup: accessGroup ?? AccessGroup.shared.name, synchronizable: .any)
    }

    private func update(_ password: SharedSecret?) -> ItemUpdate {
        ItemUpdate(
            attributes: attributes, data: password, protection: protection, accessControlFlags: accessControlFlags)
    }
}
