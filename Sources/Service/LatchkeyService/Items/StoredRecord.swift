// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// An item as it was stored, without its secrets.
public struct StoredRecord: Sendable {
    public let record: ItemRecord
    /// Whether it has taken the place of one that existed.
    public let isReplacement: Bool

    public init(_ record: ItemRecord, isReplacement: Bool) {
        var record = record
        record.secrets = nil
        (self.record, self.isReplacement) = (record, isReplacement)
    }
}
