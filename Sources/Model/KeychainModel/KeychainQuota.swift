// SPDX-License-Identifier: Apache-2.0

/// The limits of all keychains of one user together, if one daemon keeps the keychains of many users.
public struct KeychainQuota: Sendable, Equatable {
    /// The size of all databases, stored files and audit logs, in bytes. Backups may have as much beside it, while
    /// they are made or restored.
    public var bytes: Int
    /// The number of items in all keychains, tombstones included.
    public var items: Int

    public init(bytes: Int = 256 << 20, items: Int = 100_000) {
        self.bytes = bytes
        self.items = items
    }
}
