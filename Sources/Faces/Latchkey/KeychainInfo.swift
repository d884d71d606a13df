// SPDX-License-Identifier: Apache-2.0

/// One of the user's keychains, as ``Keychain/list()`` describes it.
public struct KeychainInfo: Hashable, Sendable {
    /// The name, which ``Keychain/named(_:)`` accepts.
    public let name: String
    /// Where it is: the path of the database of `login`, the directory of another keychain, or
    /// `ephemeral` for one in memory.
    public let path: String
    /// Its position in the search list, from 0; nil if it is not searched.
    public let searchPosition: Int?
    /// Whether it gets the new items of ``Keychain/default``.
    public let isDefault: Bool

    /// Whether ``Keychain/default`` finds its items.
    public var isSearched: Bool { searchPosition != nil }
}
