// SPDX-License-Identifier: Apache-2.0

/// `security default-keychain`.
enum DefaultKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "default-keychain",
        summary: "Show the default keychain.",
        options: SingleKeychain.options,
        operands: "[keychain]",
        examples: ["default-keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try SingleKeychain.showOrSet("the default keychain", "SecKeychainCopyDefault", arguments, in: session)
    }
}
