// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import LinuxSystem

/// Keeps the number of rows at or below a limit without counting them at each insertion.
final class ItemQuota: Sendable {
    private let limit: Int
    /// An upper estimate of the number of rows, from the insertions of this process; nil before the
    /// first count.
    private let known = SystemMutex<Int?>(nil)

    init(_ limit: Int) { self.limit = limit }

    /// Counts one more row. If the transaction is rolled back, ``forget()`` must follow.
    ///
    /// - Throws: ``StoreError/quota(_:)`` if the limit is reached.
    func checkRowQuota(in database: Database) throws(StoreError) {
        let estimate = known.withLock { $0 }
        var count = estimate ?? limit
        // Count the rows if the estimate reaches the limit, and periodically, because sessions add
        // rows through their own connections.
        if count >= limit || count.isMultiple(of: Self.interval) { count = try Self.count(in: database) }
        guard count < limit else { throw .quota("the keychain holds \(count) items, which is the maximum") }
        known.withLock { $0 = count + 1 }
    }

    /// Discards the estimate, which includes rows of a transaction that was rolled back. The next
    /// insertion counts the rows.
    func forget() { known.withLock { $0 = nil } }

    private static let interval = 1024

    private static func count(in database: Database) throws(StoreError) -> Int {
        let statement = try RowStatement("SELECT count(*) FROM item", in: database)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }
}
