// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// An item of a keyring.
public struct GnomeKeyringItem: Sendable, Equatable {
    /// Identifies the item in its keyring; gnome-keyring writes a number.
    public var identifier: String
    public var label: String
    /// Text or other bytes. Empty for an item without a secret, because a file does not distinguish the two.
    public var secret: SharedSecret
    public var attributes: [String: Attribute]
    /// In seconds since 1970; 0 if it is unknown.
    public var created: UInt64
    /// In seconds since 1970; 0 if it is unknown.
    public var modified: UInt64
    /// The number of its kind in the file; see ``schema``.
    public var kind: UInt32

    /// The value of an attribute. Programs that use libsecret store text only.
    public enum Attribute: Sendable, Equatable {
        case text(String)
        case number(UInt32)

        /// The value as the Secret Service shows it.
        public var text: String {
            switch self {
            case .text(let text): text
            case .number(let number): "\(number)"
            }
        }
    }

    /// The name of the item's schema: the attribute `xdg:schema`, else that of its kind; nil for a kind without a
    /// name.
    public var schema: String? {
        if case .text(let name)? = attributes["xdg:schema"] { return name }
        // The other bits mark an item that is used by one program only.
        return switch kind & 0xFFFF {
        case 0: "org.freedesktop.Secret.Generic"
        case 1: "org.gnome.keyring.NetworkPassword"
        case 2: "org.gnome.keyring.Note"
        case 3: "org.gnome.keyring.ChainedKeyring"
        case 4: "org.gnome.keyring.EncryptionKey"
        case 0x100: "org.gnome.keyring.PkStorage"
        default: nil
        }
    }
}
