// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// `security default-keychain`.
enum DefaultKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "default-keychain",
        summary: "Show or set the default keychain for new items.",
        options: KeychainSetting.options,
        operands: "[keychain]",
        examples: ["default-keychain", "default-keychain -d user -s build.keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try KeychainSetting.showOrSet(\.list.defaultKeychain, "SecKeychainCopyDefault", arguments, in: session) {
            (name) throws(CommandFailure) in
            try KeychainSetting.change(.defaultKeychain(name), "SecKeychainSetDefault")
        }
    }
}
