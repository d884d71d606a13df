// SPDX-License-Identifier: Apache-2.0

extension Database {
    /// Runs `body` in one transaction, while no other connection writes. When this returns, all changes are committed;
    /// when it throws, nothing has changed.
    ///
    /// If the connection is inside of the transaction even then, it must be closed.
    public func transaction<Result, Failure: Error>(
        onDatabaseError failure: (DatabaseError) -> Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try run("BEGIN IMMEDIATE", failure)
        do throws(Failure) {
            let result = try body()
            try run("COMMIT", failure)
            return result
        } catch {
            // After some errors SQLite has already rolled back; then nothing is left to do.
            if isInsideTransaction { try? run("ROLLBACK", failure) }
            throw error
        }
    }

    private func run<Failure: Error>(_ sql: String, _ failure: (DatabaseError) -> Failure) throws(Failure) {
        do throws(DatabaseError) {
            try Statement(sql, in: self).run()
        } catch {
            throw failure(error)
        }
    }
}
