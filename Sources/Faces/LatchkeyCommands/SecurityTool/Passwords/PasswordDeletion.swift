// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
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
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        let record = try PasswordSearch.find(
            query, returning: [.attributes, .persistentReference], in: keychain, for: try PersonPrompt(arguments))
        let path = try KeychainPath.of(keychain)
        let item = ItemQuery(itemClass, synchronizable: .any, persistentReference: record.persistentReference)
        try CommandFailure.mapErrors("SecKeychainItemDelete") { () throws(KeychainError) in
            _ = try keychain.delete(item)
        }
        try session.write(ItemBlock(record: record, keychain: path).text)
        session.io.say("password has been deleted.\n")
    }
}
