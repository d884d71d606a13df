// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService

/// The path of the keychain, as commands print it.
enum KeychainPath {
    /// Returns the path of the database, or `ephemeral` for a keychain in memory.
    static func of(_ keychain: KeychainSession) throws(CommandFailure) -> String {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.status() }.databasePath
            ?? ephemeral
    }

    static let ephemeral = "ephemeral"
}
