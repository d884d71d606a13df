// SPDX-License-Identifier: Apache-2.0

/// The maximum size of one keychain, if one daemon keeps the keychains of many users.
public struct KeychainQuota: Sendable, Equatable {
    /// The size of the database, in bytes. The stored files together may have the same size, and a
    /// backup twice that while it is made or restored.
    public var bytes: Int
    /// The number of items, tombstones included.
    public var items: Int

    public init(bytes: Int = 256 << 20, items: Int = 100_000) {
        self.bytes = bytes
        self.items = items
    }
}
