// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// Implements `delete-generic-password` and `delete-internet-password`.
enum PasswordDeletion {
    static let notes = [
        """
        At least one attribute must be given. Only the first match is deleted: to delete all matches, repeat the \
        command until it exits with 44.
        """
    ]

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        let query = try PasswordSearch.query(itemClass, arguments)
        guard !query.attributes.isEmpty else { throw .usage("at least one attribute must be given") }
        let person = try PersonPrompt(arguments)
        let (record, keychain) = try KeychainOperand.searched(arguments.operands, in: session).first {
            (keychain) throws(CommandFailure) in
            try PasswordSearch.find(query, returning: [.attributes, .persistentReference], in: keychain, for: person)
        }
        let path = try keychain.path()
        let item = ItemQuery(itemClass, synchronizable: .any, persistentReference: record.persistentReference)
        try CommandFailure.mapErrors("SecKeychainItemDelete") { () throws(KeychainError) in
            guard try keychain.session.delete(item) > 0 else { throw .itemNotFound }
        }
        try session.write(ItemBlock(record: record, keychain: path).text)
        session.io.say("password has been deleted.\n")
    }
}
