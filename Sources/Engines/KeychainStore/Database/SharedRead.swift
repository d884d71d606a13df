// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SQLiteConnections
internal import Synchronization

/// The maximum cost of all reads of one call together.
public struct ReadBudget: Sendable {
    /// The rows that are opened.
    public var rows: Int
    /// The bytes of these rows.
    public var bytes: Int
    /// The instructions of SQLite's machine; a row takes about fifty.
    public var instructions: Int

    public init(rows: Int, bytes: Int, instructions: Int) {
        (self.rows, self.bytes, self.instructions) = (rows, bytes, instructions)
    }
}

/// A transaction that the reads of one call share. All of them run on one thread. It never writes: an operation that
/// must write, or costs more than the budget, ends it by an error.
final class SharedRead: Sendable {
    let database: Database
    private let pool: ConnectionPool
    /// The rest of the budget; the largest number for no limit.
    private let rows: Atomic<Int>
    private let bytes: Atomic<Int>
    /// Whether a read could not be done here, so that the result of the call does not count.
    let isEnded = Flag()

    init(_ database: Database, of pool: ConnectionPool, _ budget: ReadBudget?) {
        (self.database, self.pool) = (database, pool)
        rows = Atomic(budget?.rows ?? .max)
        bytes = Atomic(budget?.bytes ?? .max)
    }

    @TaskLocal private static var current: SharedRead?

    /// The transaction of the reads of this thread; nil for none.
    static func current(of pool: ConnectionPool) -> SharedRead? {
        guard let current, current.pool === pool else { return nil }
        return current
    }

    /// Runs `body` with this transaction for its reads.
    func run<Result>(_ body: () -> Result) -> Result { Self.$current.withValue(self) { body() } }

    /// Pays for a row before it is opened.
    func spend(bytes count: Int) throws(StoreError) {
        // One thread uses it.
        let isPaid = rows.load(ordering: .relaxed) > 0 && count <= bytes.load(ordering: .relaxed)
        guard isPaid else { throw end() }
        rows.subtract(1, ordering: .relaxed)
        bytes.subtract(count, ordering: .relaxed)
    }

    /// Ends the transaction: it cannot perform the request.
    ///
    /// - Returns: the error to throw. Only the call that has begun the transaction sees it.
    func end() -> StoreError {
        isEnded.raise()
        return .cancelled
    }
}

extension ConnectionPool {
    /// Runs `body`. Its reads on this thread share one transaction and so see one state of the database. A call within
    /// another one shares the transaction of that one.
    ///
    /// - Parameter budget: the maximum cost of the reads. Then nothing waits either: neither for a connection nor for
    ///   the lock of another process. nil for no limit.
    /// - Returns: nil if that is not possible, or was not enough; then `body` may have run.
    func sharing<Result>(_ budget: ReadBudget?, _ body: () -> Result) throws(StoreError) -> Result? {
        if SharedRead.current(of: self) != nil { return body() }
        guard canShare else { return nil }
        guard budget == nil else {
            return try withFreeConnection { (database) throws(StoreError) in try share(database, budget, body) }
        }
        return try withOwnConnection { (database) throws(StoreError) in try share(database, nil, body) }
    }

    private func share<Result>(
        _ database: Database, _ budget: ReadBudget?, _ body: () -> Result
    ) throws(StoreError) -> Result? {
        try RowStatement("BEGIN DEFERRED", in: database).run()
        // The transaction has written nothing, so an error of COMMIT loses nothing.
        defer { _ = try? RowStatement("COMMIT", in: database).run() }
        let shared = SharedRead(database, of: self, budget)
        let result =
            if let budget {
                database.limiting(toInstructions: budget.instructions) { shared.run(body) }
            } else {
                shared.run(body)
            }
        return shared.isEnded.value ? nil : result
    }
}

extension KeychainStore {
    /// Runs `body` so that its searches here on this thread see one state of the database, if it changes nothing. It
    /// runs again if it must change something; then each call in it sees a state of its own.
    public func reading<Result>(_ body: () -> Result) -> Result {
        // If an error prevents the transaction, the first call in the body reports it.
        ((try? connections.sharing(nil, body)) ?? nil) ?? body()
    }

    /// Runs `body` so that its searches here on this thread see one state of the database, cost no more than `budget`,
    /// and wait for no other thread or process.
    ///
    /// - Returns: nil if that is not possible; then `body` may have run.
    public func reading<Result>(within budget: ReadBudget, _ body: () -> Result) -> Result? {
        (try? connections.sharing(budget, body)) ?? nil
    }
}
