// SPDX-License-Identifier: Apache-2.0

/// `security login-keychain`.
enum LoginKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "login-keychain",
        summary: "Show the login keychain.",
        options: OneKeychain.options,
        operands: "[keychain]",
        examples: ["login-keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try OneKeychain.showOrSet("the login keychain", "SecKeychainCopyLogin", arguments, in: session)
    }
}
