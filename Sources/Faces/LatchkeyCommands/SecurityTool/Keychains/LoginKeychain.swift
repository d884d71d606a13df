// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security login-keychain`.
enum LoginKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "login-keychain",
        summary: "Show the login keychain of the user.",
        options: [
            KeychainDomain.option, CommandOption("-s", help: "set the keychain; accepted if it stays the same"),
        ],
        operands: "[keychain]",
        examples: ["login-keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try KeychainSetting.showOrSet({ _ in .login }, "SecKeychainCopyLogin", arguments, in: session) {
            (name) throws(CommandFailure) in
            guard name == .login else {
                throw .status(
                    KeychainError(
                        .unimplemented, "the login keychain is always the one that every user has",
                        hint: "security default-keychain -s \(name.fileName)"))
            }
        }
    }
}
