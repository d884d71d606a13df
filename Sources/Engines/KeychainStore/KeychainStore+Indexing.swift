// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import SQLiteConnections

/// The lookup tokens of rows that an earlier version has written. They are made of sealed data, so the tokens of a
/// closed class are written at the next unlock. Until then a search that could miss such a row fails, instead of not
/// finding it.
extension KeychainStore {
    /// Writes the tokens of every row with an open class. Without space, searches open the rows.
    func indexOpenRows() throws(StoreError) {
        do throws(StoreError) {
            let isNeeded = try connections.read { (database) throws(StoreError) -> Bool in
                guard try DatabaseSchema.hasLookup(database) else { return false }
                return try LookupTable.hasUnindexedRows(database)
            }
            guard isNeeded else { return }
            var last = Int64.min
            while let next = try indexSome(after: last) { last = next }
        } catch {
            guard error.isFull else { throw error }
        }
    }

    /// Writes the tokens of some rows in one transaction.
    ///
    /// - Returns: the position of the last row that was read; nil after the last one.
    private func indexSome(after position: Int64) throws(StoreError) -> Int64? {
        try write(isChange: false) { (database, seal) throws(StoreError) -> Int64? in
            var rows: [(position: Int64, row: ItemRow?)] = []
            do {
                let statement = try RowStatement(
                    """
                    SELECT id, \(seal.columns.selection) FROM item INDEXED BY item_unindexed
                    WHERE \(LookupTable.unindexed) AND id > ? ORDER BY id LIMIT \(Self.indexBatch)
                    """, in: database)
                try statement.bind(position, at: 1)
                while try statement.step() { rows.append((statement.integer(0), ItemRow(statement))) }
            }
            for (position, row) in rows { try index(row, at: position, in: database, seal) }
            return rows.last?.position
        }
    }

    /// A damaged row gets no tokens: no search returns it.
    private func index(
        _ row: ItemRow?, at position: Int64, in database: Database, _ seal: RowSeal
    ) throws(StoreError) {
        var tokens: [SearchToken] = []
        if let row {
            do throws(RowSeal.Failure) {
                tokens = seal.tokens.lookup(of: try seal.open(row))
            } catch {
                if case .closed = error { return }
            }
        }
        try LookupTable.replace(tokens, of: position, in: database)
        try LookupTable.markIndexed(position, in: database)
    }

    /// In rows.
    private static let indexBatch = 256
}
