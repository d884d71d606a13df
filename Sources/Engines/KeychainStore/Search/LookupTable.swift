// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import SQLiteConnections

/// The table of lookup tokens: one row for each lookup attribute of each password, so that a search for a subset of
/// them is by index. Its rows are not authenticated: each selected item is opened and then compared.
enum LookupTable {
    /// Adds the tokens of a new row.
    static func insert(_ tokens: [SearchToken], of item: Int64, in database: Database) throws(StoreError) {
        guard !tokens.isEmpty else { return }
        let statement = try RowStatement("INSERT INTO lookup (token, item) VALUES (?, ?)", in: database)
        try statement.bind(item, at: 2)
        for token in tokens {
            try statement.bind(token, at: 1)
            try statement.run()
            statement.reset()
        }
    }

    /// Replaces the tokens of a row. Those that stay are not written again.
    static func replace(_ tokens: [SearchToken], of item: Int64, in database: Database) throws(StoreError) {
        guard let present = try self.tokens(of: item, in: database) else {
            let removal = try RowStatement("DELETE FROM lookup WHERE item = ?", in: database)
            try removal.bind(item, at: 1)
            try removal.run()
            return try insert(tokens, of: item, in: database)
        }
        for token in present.subtracting(tokens) {
            try run("DELETE FROM lookup WHERE token = ? AND item = ?", token, item, in: database)
        }
        try insert(Array(Set(tokens).subtracting(present)), of: item, in: database)
    }

    /// Returns the tokens of a row; nil if one of them is malformed.
    static func tokens(of item: Int64, in database: Database) throws(StoreError) -> Set<SearchToken>? {
        let statement = try RowStatement("SELECT token FROM lookup WHERE item = ?", in: database)
        try statement.bind(item, at: 1)
        var tokens: Set<SearchToken> = []
        while try statement.step() {
            guard case .token(let token) = statement.token(0) else { return nil }
            tokens.insert(token)
        }
        return tokens
    }

    private static func run(
        _ sql: String, _ token: SearchToken, _ item: Int64, in database: Database
    ) throws(StoreError) {
        let statement = try RowStatement(sql, in: database)
        try statement.bind(token, at: 1)
        try statement.bind(item, at: 2)
        try statement.run()
    }

    // MARK: Searching

    /// Returns the tokens with a rare one first; nil if one of them has no item.
    ///
    /// A search begins with the first token, and looks for the others with each of its items. A token
    /// that all items share, such as that of `xdg:schema`, must not be the first one. Counting ends
    /// where a token is rare enough, so that it costs no more than the search.
    static func ordered(_ tokens: [SearchToken], in database: Database) throws(StoreError) -> [SearchToken]? {
        guard tokens.count > 1 else { return tokens }
        for limit in limits {
            var rarest: (token: SearchToken, count: Int64)?
            for token in tokens {
                let count = try count(of: token, upTo: limit, in: database)
                guard count > 0 else { return nil }
                if count < rarest?.count ?? limit { rarest = (token, count) }
            }
            if let rarest { return [rarest.token] + tokens.filter { $0 != rarest.token } }
        }
        return tokens
    }

    /// A token with fewer items than one of these is rare enough.
    private static let limits: [Int64] = [32, 1024, 32768]

    private static func count(
        of token: SearchToken, upTo limit: Int64, in database: Database
    ) throws(StoreError) -> Int64 {
        let statement = try RowStatement(
            "SELECT count(*) FROM (SELECT 1 FROM lookup WHERE token = ? LIMIT ?)", in: database)
        try statement.bind(token, at: 1)
        try statement.bind(limit, at: 2)
        return try statement.step() ? statement.integer(0) : 0
    }

    // MARK: Rows of earlier versions

    /// Rows without tokens: `item INDEXED BY item_unindexed WHERE` this condition.
    static let unindexed = "class < 3 AND lookup_revision IS NOT revision"

    static func hasUnindexedRows(_ database: Database) throws(StoreError) -> Bool {
        try RowStatement("SELECT 1 FROM item INDEXED BY item_unindexed WHERE \(unindexed) LIMIT 1", in: database).step()
    }

    /// States that the tokens of the row's revision are written.
    static func markIndexed(_ item: Int64, in database: Database) throws(StoreError) {
        let statement = try RowStatement("UPDATE item SET lookup_revision = revision WHERE id = ?", in: database)
        try statement.bind(item, at: 1)
        try statement.run()
    }
}
