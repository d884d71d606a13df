// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
public import SecretMemory

/// What a new passcode or passphrase has to be beside long enough.
public enum PasscodeRules {
    /// Refuses one that everybody who guesses tries first.
    ///
    /// - Parameter noun: what it is called in the message: `passcode` or `passphrase`.
    /// What can be no passcode at all passes: it is refused, with its reason, where it is set.
    ///
    /// - Throws: errSecParam.
    public static func requireUncommon(_ new: SharedSecret, noun: String) throws(KeychainError) {
        guard let passcode = try? Passcode(new) else { return }
        switch passcode.weakness {
        case .oneCharacter: throw KeychainError(.param, "the \(noun) is one character repeated, which is guessed first")
        case .common: throw KeychainError(.param, "the \(noun) is among the commonest, which are guessed first")
        case nil: return
        }
    }
}
