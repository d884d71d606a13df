// SPDX-License-Identifier: Apache-2.0

/// What an access control asks for each time the item is used. The bits are Apple's `SecAccessControlCreateFlags` (keychain-behaviour §5.4).
public struct AccessControlFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let or = AccessControlFlags(rawValue: 1 << 14)
    public static let and = AccessControlFlags(rawValue: 1 << 15)
    public static let privateKeyUsage = AccessControlFlags(rawValue: 1 << 30)

    /// Whether anything must be satisfied before the item may be used. What the item is used for, and the operators, are no constraints;
    /// every other bit is one, also a bit that this version does not know.
    public var hasConstraints: Bool {
        !subtracting([.or, .and, .privateKeyUsage]).isEmpty
    }
}
