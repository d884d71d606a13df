// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The class of a ``SecKeychainItem``.
public enum SecItemClass: FourCharCode, Sendable {
    /// A password of a server.
    case internetPasswordItemClass = 0x696E_6574
    /// Any other password.
    case genericPasswordItemClass = 0x6765_6E70
    /// Unsupported.
    case appleSharePasswordItemClass = 0x6173_6870
    /// Unsupported, as are the keys: `kSecValueRef` has objects for them.
    case certificateItemClass = 0x8000_1000
    /// Unsupported.
    case publicKeyItemClass = 0xF
    /// Unsupported.
    case privateKeyItemClass = 0x10
    /// Unsupported.
    case symmetricKeyItemClass = 0x11

    init?(_ itemClass: ItemClass) {
        switch itemClass {
        case .genericPassword: self = .genericPasswordItemClass
        case .internetPassword: self = .internetPasswordItemClass
        case .certificate, .key, .identity: return nil
        }
    }

    /// - Throws: errSecUnimplemented for a class that is not one of passwords.
    func passwordClass() throws(KeychainError) -> ItemClass {
        switch self {
        case .genericPasswordItemClass: return .genericPassword
        case .internetPasswordItemClass: return .internetPassword
        default: throw KeychainError(.unimplemented, "items of this class are added by SecItemAdd")
        }
    }
}
