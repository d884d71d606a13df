// SPDX-License-Identifier: Apache-2.0

/// The constraints of an access control, which apply each time the item is used. The bits are those
/// of Apple's `SecAccessControlCreateFlags` (keychain-behaviour §5.4).
public struct AccessControlFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let or = AccessControlFlags(rawValue: 1 << 14)
    public static let and = AccessControlFlags(rawValue: 1 << 15)
    public static let privateKeyUsage = AccessControlFlags(rawValue: 1 << 30)

    /// Whether a constraint must be satisfied before the item may be used. The operators and
    /// `privateKeyUsage` are not constraints; every other bit is, including bits that this version
    /// does not know.
    public var hasConstraints: Bool {
        !subtracting([.or, .and, .privateKeyUsage]).isEmpty
    }
}
