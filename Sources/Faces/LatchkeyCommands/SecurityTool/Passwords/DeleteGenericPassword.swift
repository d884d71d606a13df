// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security delete-generic-password`.
enum DeleteGenericPassword: SecurityCommand {
    static let definition = CommandDefinition(
        name: "delete-generic-password",
        summary: "Delete a generic password item.",
        options: CommandOption.genericCriteria + [.accessGroup] + CommandOption.prompt + CommandOption.passcode,
        operands: "[keychain...]",
        notes: PasswordDeletion.notes,
        examples: ["delete-generic-password -a alice -s example.com"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PasswordDeletion.run(.genericPassword, arguments, in: session)
    }
}
