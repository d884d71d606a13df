// SPDX-License-Identifier: Apache-2.0

/// How large one keychain may become, where one daemon keeps the keychains of many users.
public struct KeychainQuota: Sendable, Equatable {
    /// The database, in bytes. A backup on its way may take as much again while it is being restored or made.
    public var bytes: Int
    /// Items, those included that are kept as deleted for synchronisation.
    public var items: Int

    public init(bytes: Int = 256 << 20, items: Int = 100_000) {
        self.bytes = bytes
        self.items = items
    }
}
