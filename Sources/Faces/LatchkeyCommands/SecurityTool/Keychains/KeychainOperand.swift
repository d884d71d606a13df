// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// The keychains that a command line names. There is one keychain, with several names.
enum KeychainOperand {
    /// Checks that every operand names the keychain, and opens it.
    ///
    /// - Throws: errSecNoSuchKeychain (exit 50) for any other keychain.
    static func check(_ operands: [CommandWord], in session: CommandSession) throws(CommandFailure)
        -> KeychainSession
    {
        let keychain = try session.keychain()
        for operand in operands where !knownNames.contains(operand.lastPathComponent) {
            guard operand.text == (try KeychainPath.of(keychain)) else {
                let error = KeychainError(
                    .noSuchKeychain, "there is no such keychain",
                    hint: "omit the keychain, or name it login.keychain; there is one per user")
                throw .status(error, of: "SecKeychainOpen \(operand.text)")
            }
        }
        return keychain
    }

    /// The names of the default and login keychain, accepted in any directory because scripts use
    /// macOS's paths.
    private static let knownNames: Set<String> = ["login.keychain", "login.keychain-db", "default"]
}
