// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// Storing items that clients of the Secret Service find by their lookup attributes.
extension ItemTransaction {
    /// Stores a new item with lookup attributes. If another item has its primary key, its account gets
    /// a number.
    ///
    /// - Returns: the record as it was stored.
    public func addNumbered(_ record: ItemRecord) throws(StoreError) -> ItemRecord {
        try seal.requireOpen(record.protection)
        return try add(try numbered(record, except: nil))
    }

    /// Changes the item that `record` would replace: one with exactly the same lookup attributes, in the same access
    /// group; otherwise one with the same primary key and without attributes that a client has stored.
    ///
    /// - Returns: the changed record as it was stored; nil if there is no such item.
    public func replace(
        _ record: ItemRecord, _ change: (ItemRecord) throws(KeychainError) -> ItemRecord
    ) throws(StoreError) -> ItemRecord? {
        guard let (row, old) = try item(replacedBy: record) else { return nil }
        return try update(row, old, numbersAccount: true, change)
    }

    /// - Throws: the error of a closed class if such an item cannot be opened.
    private func item(
        replacedBy record: ItemRecord
    ) throws(StoreError) -> (ItemRow, ItemRecord)? {
        guard let attributes = record.storedLookup else { return nil }
        var search = ItemSearch(
            record.itemClass, groups: .only([record.accessGroup]),
            synchronizable: record.isSynchronizable ? .synchronized : .local)
        search.lookup = .exactly(attributes)
        if let same = try matches(of: search).first { return same }
        let token = seal.tokens.primaryKey(of: record, group: seal.tokens.group(record.accessGroup))
        guard let row = try row(withPrimaryKey: token)?.1 else { return nil }
        search.lookup = nil
        search.identifier = row.clear.identifier
        return try matches(of: search).first { $0.1.storedLookup == nil }
    }

    /// Returns the record, with a number after its account if another row has its primary key.
    ///
    /// - Parameter position: the row of the item itself; nil for a new one.
    func numbered(
        _ record: ItemRecord, except position: Int64?
    ) throws(StoreError) -> ItemRecord {
        let group = seal.tokens.group(record.accessGroup)
        func isFree(_ candidate: ItemRecord) throws(StoreError) -> Bool {
            let token = seal.tokens.primaryKey(of: candidate, group: group)
            guard let found = try row(withPrimaryKey: token) else { return true }
            return found.0 == position
        }
        if try isFree(record) { return record }
        for attempt in 0..<Self.maxNumbers {
            // Many items may mean the same to SecItem, and trying their numbers one by one would take
            // longer with each of them.
            let number =
                attempt < Self.smallNumbers.count
                ? Self.smallNumbers.lowerBound + UInt32(attempt) : UInt32.random(in: Self.largeNumbers)
            let candidate = record.withAccountNumber(number)
            if try isFree(candidate) { return candidate }
        }
        throw .duplicate
    }

    private static let maxNumbers = 64
    private static let smallNumbers: Range<UInt32> = 2..<9
    private static let largeNumbers: Range<UInt32> = 9..<1_000_000_000
}
