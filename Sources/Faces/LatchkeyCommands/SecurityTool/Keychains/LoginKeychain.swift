// SPDX-License-Identifier: Apache-2.0

/// `security login-keychain`.
enum LoginKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "login-keychain",
        summary: "Show the login keychain.",
        options: SingleKeychain.options,
        operands: "[keychain]",
        examples: ["login-keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try SingleKeychain.showOrSet("the login keychain", "SecKeychainCopyLogin", arguments, in: session)
    }
}
