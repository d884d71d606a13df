// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security find-internet-password`.
enum FindInternetPassword: SecurityCommand {
    static let definition = CommandDefinition(
        name: "find-internet-password",
        summary: "Find an internet password item.",
        options: CommandOption.internetCriteria + PasswordPrinting.options + [.accessGroup] + CommandOption.prompt
            + CommandOption.passcode,
        operands: "[keychain...]",
        notes: PasswordPrinting.notes,
        examples: ["find-internet-password -s example.com -r htps -w", "find-internet-password -s example.com -g"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PasswordPrinting.run(.internetPassword, arguments, in: session)
    }
}
