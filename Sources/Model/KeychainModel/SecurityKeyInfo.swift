// SPDX-License-Identifier: Apache-2.0

/// A security key that is enrolled in a keychain, as the user knows it.
public struct SecurityKeyInfo: Hashable, Sendable {
    public let identifier: SecurityKeyIdentifier
    /// The user's name for the key. No other enrolled key has it.
    public let name: String
    /// When it was enrolled, in seconds since 2001-01-01.
    public let created: Double
    /// Whether it also satisfies `userPresence`, and not only `latchkeySecurityKey`.
    public let satisfiesUserPresence: Bool

    public init(identifier: SecurityKeyIdentifier, name: String, created: Double, satisfiesUserPresence: Bool) {
        self.identifier = identifier
        self.name = name
        self.created = created
        self.satisfiesUserPresence = satisfiesUserPresence
    }

    /// The maximum number of security keys of a keychain.
    public static let maxCount = 8
}

/// Identifies an enrolled security key: SHA-256 of its credential.
public struct SecurityKeyIdentifier: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// Nil unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// - Parameter digest: a digest of SHA-256, always 32 bytes.
    package init(unchecked digest: [UInt8]) { bytes = digest }

    /// The length in bytes.
    public static let length = 32
}
