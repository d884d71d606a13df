// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security add-internet-password`. In this command, `-p` is the path.
enum AddInternetPassword: SecurityCommand {
    static let definition = CommandDefinition(
        name: "add-internet-password",
        summary: "Add an internet password item.",
        options: CommandOption.addition(CommandOption.internetCriteria) + CommandOption.prompt + CommandOption.passcode,
        operands: "[keychain]",
        notes: CommandOption.passwordNotes + CommandOption.accessListNotes + CommandOption.accessControlNotes,
        examples: [
            "add-internet-password -a alice -s example.com -r htps -P 443 -U -w",
            "add-internet-password -a alice -s example.com -r htps --secret-file password.txt",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PasswordAddition.run(.internetPassword, arguments, in: session)
    }
}
