// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The result of a query.
public struct ItemMatches: Sendable {
    public var records: [ItemRecord]
    /// The number of rows that were skipped because they are damaged. `SecItem` does not report
    /// them; `Latchkey` and `doctor` do.
    public var damaged: Int
    /// Matching items of closed classes, if the query is for lookup attributes.
    public var locked: [LockedItem]

    public init(records: [ItemRecord], damaged: Int, locked: [LockedItem] = []) {
        self.records = records
        self.damaged = damaged
        self.locked = locked
    }

    /// Whether nothing was found, not even a damaged item.
    public var isEmpty: Bool { records.isEmpty && damaged == 0 }
}
