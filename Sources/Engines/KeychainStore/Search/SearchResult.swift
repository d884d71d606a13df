// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The result of a search.
public struct SearchResult: Sendable {
    /// In the order of insertion.
    public var records: [ItemRecord] = []
    /// Damaged rows that may match. They were skipped.
    public var damaged: [DamagedRow] = []
    /// Matching items with a changed enrolled set. They are not in ``records``, never open again, and should be
    /// deleted.
    public var lost: [ItemIdentifier] = []
    /// Items, among ``records``, with a wrong application password.
    public var wrongPasswords: [ItemIdentifier] = []
    /// Matching items of closed classes, if the search is by lookup attributes.
    public var locked: [LockedItem] = []
}

/// A row that does not authenticate or decode.
public struct DamagedRow: Sendable, Hashable {
    /// nil if the identifier is damaged, too.
    public let identifier: ItemIdentifier?
    /// The damage; contains no value of the item.
    public let reason: String
}
