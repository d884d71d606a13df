// SPDX-License-Identifier: Apache-2.0

/// A factor that a person is asked for.
public enum PresenceFactor: String, Sendable, Hashable, CaseIterable {
    /// The passcode of the keychain. The answer is a secret that the service verifies.
    case passcode
    /// The password that an application has set for an item. The answer is a secret.
    case applicationPassword
    /// A password for a new item. It is typed twice. The answer is a secret.
    case newApplicationPassword
    /// Only a yes or a no.
    ///
    /// A yes proves nothing about programs of the same user, because such a program can name a
    /// terminal of its own and answer there. Never open an item for it.
    case confirmation
    /// A finger of the person.
    case fingerprint
    /// A touch of a security key.
    case securityKey
    /// The PIN of a security key. The answer is a secret that the key verifies.
    case securityKeyPIN

    /// The factor in the middle of a sentence.
    public var name: String {
        switch self {
        case .passcode: "the passcode"
        case .applicationPassword: "the item's password"
        case .newApplicationPassword: "a new password for the item"
        case .confirmation: "a confirmation"
        case .fingerprint: "a fingerprint"
        case .securityKey: "a security key"
        case .securityKeyPIN: "the PIN of a security key"
        }
    }
    /// Whether the answer is a secret.
    public var isSecret: Bool {
        switch self {
        case .passcode, .applicationPassword, .newApplicationPassword, .securityKeyPIN: true
        case .confirmation, .fingerprint, .securityKey: false
        }
    }
}
