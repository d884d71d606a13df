// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// The keychains that a command line names. There is one keychain, and it has several names.
enum KeychainOperand {
    /// Opens the keychain, after every operand was found to mean it.
    ///
    /// - Throws: errSecNoSuchKeychain (exit 50) for any other keychain.
    static func check(_ operands: [CommandWord], in session: CommandSession) throws(CommandFailure)
        -> any KeychainService
    {
        let keychain = try session.keychain()
        for operand in operands where !knownNames.contains(operand.lastPathComponent) {
            guard operand.text == (try KeychainPath.of(keychain)) else {
                let error = KeychainError(
                    .noSuchKeychain, "there is no such keychain",
                    hint: "leave the keychain out, or call it login.keychain; there is one per user")
                throw .status(error, of: "SecKeychainOpen \(operand.text)")
            }
        }
        return keychain
    }

    /// The names of the default and login keychain, in any directory: scripts spell out macOS's.
    private static let knownNames: Set<String> = ["login.keychain", "login.keychain-db", "default"]
}
