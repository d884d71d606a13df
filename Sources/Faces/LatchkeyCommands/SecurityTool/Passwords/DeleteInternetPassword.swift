// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security delete-internet-password`.
enum DeleteInternetPassword: SecurityCommand {
    static let definition = CommandDefinition(
        name: "delete-internet-password",
        summary: "Delete an internet password item.",
        options: CommandOption.internetCriteria + [.accessGroup] + CommandOption.prompt + CommandOption.passcode,
        operands: "[keychain...]",
        notes: PasswordDeletion.notes,
        examples: ["delete-internet-password -s example.com -a alice"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PasswordDeletion.run(.internetPassword, arguments, in: session)
    }
}
