// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security add-generic-password`.
enum AddGenericPassword: SecurityCommand {
    static let definition = CommandDefinition(
        name: "add-generic-password",
        summary: "Add a generic password item.",
        options: CommandOption.addition(CommandOption.genericCriteria, oldSpelling: [.oldPassword])
            + CommandOption.prompt + CommandOption.passcode,
        operands: "[keychain]",
        notes: CommandOption.passwordNotes + CommandOption.accessListNotes + CommandOption.accessControlNotes,
        examples: [
            "add-generic-password -a alice -s example.com -U -w",
            "add-generic-password -a alice -s example.com -U -w < password.txt",
            "add-generic-password -a deploy -s example.com -U --secret-file id_ecdsa",
            "add-generic-password -a alice -s bank --access-control biometryAny,or,devicePasscode -w",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PasswordAddition.run(.genericPassword, arguments, in: session)
    }
}
