// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

/// Keeps the number of rows below a limit without counting them at each insertion.
final class ItemQuota: Sendable {
    private let limit: Int
    /// No fewer than there are, as far as this process has made them; nil before they were counted.
    private let known = Mutex<Int?>(nil)

    init(_ limit: Int) { self.limit = limit }

    /// Takes one more row into account. Where the transaction is taken back, ``forget()`` must follow.
    ///
    /// - Throws: ``StoreError/quota(_:)`` where there are as many as there may be.
    func checkRowQuota(in database: Database) throws(StoreError) {
        let estimate = known.withLock { $0 }
        var count = estimate ?? limit
        // Rows are counted where the estimate says that there may be too many, and now and then: sessions add rows by connections of their own.
        if count >= limit || count.isMultiple(of: Self.interval) { count = try Self.count(in: database) }
        guard count < limit else { throw .quota("the keychain holds \(count) items, which is as many as it may hold") }
        known.withLock { $0 = count + 1 }
    }

    /// Has rows counted before the next is admitted: what was counted in a transaction that is taken back is not so.
    func forget() { known.withLock { $0 = nil } }

    private static let interval = 1024

    private static func count(in database: Database) throws(StoreError) -> Int {
        let statement = try RowStatement("SELECT count(*) FROM item", in: database)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }
}
