// SPDX-License-Identifier: Apache-2.0

/// The constraints of an access control, which apply each time the item is used. The bits are those
/// of Apple's `SecAccessControlCreateFlags` (keychain-behaviour §5.4).
public struct AccessControlFlags: OptionSet, Hashable, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: UInt64

    /// A set from its bits.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Either of two constraints suffices.
    public static let or = AccessControlFlags(rawValue: 1 << 14)
    /// All constraints are required.
    public static let and = AccessControlFlags(rawValue: 1 << 15)
    /// The private key can be used for operations.
    public static let privateKeyUsage = AccessControlFlags(rawValue: 1 << 30)

    /// Whether a constraint must be satisfied before the item may be used. The operators and
    /// `privateKeyUsage` are not constraints; every other bit is, including bits that this version
    /// does not know.
    public var hasConstraints: Bool {
        !subtracting([.or, .and, .privateKeyUsage]).isEmpty
    }
}
