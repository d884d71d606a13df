// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import SecretMemory

extension Passcode {
    /// Reads a text from a caller as a passcode, or as the passphrase of a backup.
    ///
    /// - Throws: errSecParam for a text that cannot be one.
    static func of(_ text: SharedSecret) throws(KeychainError) -> Passcode {
        do { return try Passcode(text) } catch { throw KeychainError(error) }
    }

    static func of(_ text: SharedSecret?) throws(KeychainError) -> Passcode? {
        guard let text else { return nil }
        return try of(text) as Passcode
    }
}
