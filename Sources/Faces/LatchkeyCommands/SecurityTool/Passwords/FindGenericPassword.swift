// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security find-generic-password`.
enum FindGenericPassword: SecurityCommand {
    static let definition = CommandDefinition(
        name: "find-generic-password",
        summary: "Find a generic password item.",
        options: CommandOption.genericCriteria + PasswordPrinting.options + [.accessGroup] + CommandOption.prompt
            + CommandOption.passcode,
        operands: "[keychain...]",
        notes: PasswordPrinting.notes,
        examples: ["find-generic-password -a alice -s example.com -w", "find-generic-password -wl 'My label'"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PasswordPrinting.run(.genericPassword, arguments, in: session)
    }
}
