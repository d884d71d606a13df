// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import LinuxSystem
internal import SQLiteConnections

/// Rows: their primary keys, and their changes.
extension ItemTransaction {
    /// Ensures that no other live row has the primary key of the record.
    ///
    /// - Returns: the tombstone with this primary key, if there is one.
    /// - Throws: ``StoreError/duplicate``.
    func resolveKeyConflict(
        for record: ItemRecord, except position: Int64?
    ) throws(StoreError) -> ItemRow? {
        let token = seal.tokens.primaryKey(of: record, group: seal.tokens.group(record.accessGroup))
        let found = try row(withPrimaryKey: token)
        guard let (location, row) = found, location != position else {
            return nil
        }
        guard let row else {
            try Quarantine.move(location, in: database, seal.columns)
            return nil
        }
        let existing: ItemRecord
        do throws(RowSeal.Failure) {
            existing = try seal.verify(row)
        } catch {
            if case .closed(let reason) = error {
                // A row of a locked class cannot be opened. A tombstone is no item: the record
                // cannot replace it before its class is unlocked.
                throw row.clear.isTombstone ? .keybag(reason) : .duplicate
            }
            try Quarantine.move(location, in: database, seal.columns)
            return nil
        }
        guard existing.isTombstone else { throw .duplicate }
        return row
    }

    /// Returns the position of the row with this primary key, and the row if its plaintext columns
    /// are valid.
    func row(withPrimaryKey token: SearchToken) throws(StoreError) -> (Int64, ItemRow?)? {
        let statement = try RowStatement(seal.columns.selectionByKey, in: database)
        try statement.bind(token, at: 1)
        guard try statement.step() else { return nil }
        return (statement.integer(0), ItemRow(statement))
    }

    func insert(_ row: ItemRow) throws(StoreError) {
        try quota?.checkRowQuota(in: database)
        do {
            let statement = try RowStatement(seal.columns.insertion, in: database)
            _ = try row.bind(to: statement, seal.columns)
            try statement.run()
        }
        try LookupTable.insert(row.lookup, of: database.lastInsertedRowID, in: database)
    }

    func replace(_ row: ItemRow) throws(StoreError) {
        let statement = try RowStatement(seal.columns.replacement, in: database)
        let last = try row.bind(to: statement, seal.columns)
        try statement.bind(row.position, at: last + 1)
        try statement.run()
        guard seal.columns.hasLookup, row.clear.itemClass.isPassword else { return }
        try LookupTable.replace(row.lookup, of: row.position, in: database)
    }

    func delete(_ row: ItemRow) throws(StoreError) {
        let statement = try RowStatement("DELETE FROM item WHERE id = ?", in: database)
        try statement.bind(row.position, at: 1)
        try statement.run()
        quota?.noteDeletion()
    }

    /// Calls `body` with the position of every row and the row; the row is nil if a plaintext
    /// column has an invalid value.
    ///
    /// - Throws: ``StoreError/cancelled``, between two rows.
    func forEachRow(_ body: (Int64, ItemRow?) throws(StoreError) -> Void) throws(StoreError) {
        let statement = try RowStatement("SELECT id, \(seal.columns.selection) FROM item ORDER BY id", in: database)
        while try statement.step() {
            guard !Cancellation.isCancelled else { throw .cancelled }
            try body(statement.integer(0), ItemRow(statement))
        }
    }
}
