// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SQLiteConnections

/// Keeps the number of rows of all keychains of a user at or below a limit without counting them at each insertion.
final class ItemQuota: Sendable {
    private let account: StorageAccount
    /// The path of the database.
    private let place: String
    /// An upper estimate of the number of rows, from the insertions of this process; nil before the
    /// first count.
    private let known = SystemMutex<Int?>(nil)
    private let hasDeleted = Flag()

    init(_ account: StorageAccount, _ place: String) { (self.account, self.place) = (account, place) }

    /// Counts one more row. If the transaction is rolled back, ``forget()`` must follow.
    ///
    /// - Throws: ``StoreError/quota(_:)`` if the limit is reached.
    func checkRowQuota(in database: Database) throws(StoreError) {
        let limit = account.maxItems - account.items(without: place)
        let estimate = known.withLock { $0 }
        var count = estimate ?? limit
        // Count the rows if the estimate reaches the limit, and periodically, because sessions add
        // rows through their own connections.
        if count >= limit || count.isMultiple(of: Self.interval) { count = try Self.count(in: database) }
        guard count < limit else {
            throw .quota("the keychains of this user hold \(account.maxItems) items, the maximum")
        }
        keep(count + 1)
    }

    /// Notes that the transaction has deleted a row.
    func noteDeletion() { hasDeleted.raise() }

    /// Counts the rows at the end of a transaction that has deleted some: other keychains may have as many more.
    func finish(in database: Database) throws(StoreError) {
        if hasDeleted.lower() { keep(try Self.count(in: database)) }
    }

    /// Discards the estimate, because it includes rows of a transaction that was rolled back. The next insertion counts
    /// the rows.
    func forget() { known.withLock { $0 = nil } }

    private func keep(_ count: Int) {
        known.withLock { $0 = count }
        account.set(items: count, at: place)
    }

    private static let interval = 1024

    static func count(in database: Database) throws(StoreError) -> Int {
        let statement = try RowStatement("SELECT count(*) FROM item", in: database)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }
}

extension KeychainStore {
    /// The bytes of a database on the disk, with its log and its reserve.
    public static func size(of path: String) -> Int { ConnectionPool.size(path) }

    /// Counts the rows of a database that no process has open.
    public static func itemCount(ofClosed path: String) throws(StoreError) -> Int {
        let connections = ConnectionPool(path: path)
        defer { connections.close() }
        return try connections.read(ItemQuota.count)
    }
}
