// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService

/// `security delete-keychain`.
enum DeleteKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "delete-keychain",
        summary: "Delete keychains with everything in them, and remove them from the search list.",
        operands: "keychain...",
        notes: [
            "The login keychain of a user cannot be deleted.",
            "The file of the keychain is removed as well, and the rest of a keychain without its file.",
        ],
        examples: ["delete-keychain build.keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else {
            throw .status(KeychainError(.invalidKeychain, "no keychain is named"), of: function)
        }
        // All names are read before the first keychain is deleted.
        let overview = try KeychainOperand.overview(in: session)
        let names = try arguments.operands.map { (word) throws(CommandFailure) in
            let name = try KeychainSetting.own(word, overview)
            let exists = try CommandFailure.mapErrors(function) { () throws(KeychainError) in
                try KeychainClient.canDelete(name)
            }
            guard exists else { throw KeychainSetting.missing(name, word) }
            return name
        }
        guard !names.contains(.login) else {
            throw .status(UserKeychains.loginIsKept, of: "\(function) \(KeychainName.login.fileName)")
        }
        for name in names {
            try CommandFailure.mapErrors("\(function) \(name.fileName)") { () throws(KeychainError) in
                try KeychainClient.deleteKeychain(name)
            }
        }
    }

    private static let function = "SecKeychainDelete"
}
