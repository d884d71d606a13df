// SPDX-License-Identifier: Apache-2.0

/// The constraints of an access control. They apply each time the item is used. The bits are those of Apple's
/// `SecAccessControlCreateFlags` (keychain-behaviour §5.4).
public struct AccessControlFlags: OptionSet, Hashable, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: UInt64

    /// A set from its bits.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The person is present: by the passcode, by any enrolled biometry, or by a security key that
    /// was enrolled for it.
    public static let userPresence = AccessControlFlags(rawValue: 1 << 0)
    /// Any enrolled biometry, also one that is enrolled later.
    public static let biometryAny = AccessControlFlags(rawValue: 1 << 1)
    /// The biometry that was enrolled when the item was added; a changed set loses the item.
    public static let biometryCurrentSet = AccessControlFlags(rawValue: 1 << 3)
    /// The passcode of the keychain.
    public static let devicePasscode = AccessControlFlags(rawValue: 1 << 4)
    /// Either of two constraints suffices.
    public static let or = AccessControlFlags(rawValue: 1 << 14)
    /// All constraints are required.
    public static let and = AccessControlFlags(rawValue: 1 << 15)
    /// The private key can be used for operations.
    public static let privateKeyUsage = AccessControlFlags(rawValue: 1 << 30)

    /// A password of the application takes part in the derivation of the item's key.
    public static let applicationPassword = AccessControlFlags(rawValue: 1 << 31)
    /// An enrolled security key. Apple's headers have no such bit; they use none above 31.
    public static let latchkeySecurityKey = AccessControlFlags(rawValue: 1 << 48)

    /// Whether a constraint must be satisfied before the item may be used. The operators and
    /// `privateKeyUsage` are not constraints; every other bit is, including bits that this version
    /// does not know.
    public var hasConstraints: Bool {
        !subtracting([.or, .and, .privateKeyUsage]).isEmpty
    }
}
