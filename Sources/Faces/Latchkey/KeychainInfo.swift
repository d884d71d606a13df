// SPDX-License-Identifier: Apache-2.0

/// One of the user's keychains, as ``Keychain/list()`` describes it.
public struct KeychainInfo: Hashable, Sendable {
    /// The name or path, as ``Keychain/named(_:)`` accepts it.
    public let name: String
    /// The path of the database of
    /// `login`; of another keychain, the path of its file, or of its directory if there is no file; or `ephemeral` for
    /// one in memory.
    public let path: String
    /// Its position in the search list, from 0; nil if it is not searched.
    public let searchPosition: Int?
    /// Whether it gets the new items of ``Keychain/default``.
    public let isDefault: Bool

    /// Whether ``Keychain/default`` finds its items.
    public var isSearched: Bool { searchPosition != nil }
}
