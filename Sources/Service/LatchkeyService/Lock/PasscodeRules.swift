// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
public import SecretMemory

/// The rules for a new passcode or passphrase, apart from its minimum length.
public enum PasscodeRules {
    /// Rejects a passcode or passphrase that is easy to guess.
    ///
    /// A text that cannot be a passcode at all is accepted here; setting it fails with the reason.
    ///
    /// - Parameter noun: the name to use in the message: `passcode` or `passphrase`.
    /// - Throws: errSecParam.
    public static func requireUncommon(_ new: SharedSecret, noun: String) throws(KeychainError) {
        guard let passcode = try? Passcode(new) else { return }
        switch passcode.weakness {
        case .oneCharacter:
            throw KeychainError(.param, "the \(noun) is one repeated character, and easily guessed")
        case .common: throw KeychainError(.param, "the \(noun) is one of the most common, and easily guessed")
        case nil: return
        }
    }
}
