// SPDX-License-Identifier: Apache-2.0

internal import CSQLiteCalls

/// A compiled statement. ``Statement``s of the same text use it one after the other.
final class PreparedStatement {
    let handle: OpaquePointer
    var isInUse = false

    /// - Parameter sql: exactly one statement.
    init(_ sql: String, in connection: OpaquePointer) throws(DatabaseError) {
        var handle: OpaquePointer?
        let (code, isWhole) = sql.withCString { start in
            var end: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(connection, start, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &end)
            return (code, end?.pointee == 0)
        }
        guard code == SQLITE_OK else { throw DatabaseError(of: connection) }
        guard let handle else { throw DatabaseError(code: SQLITE_ERROR, message: "the statement is empty") }
        self.handle = handle
        guard isWhole else {
            throw DatabaseError(code: SQLITE_MISUSE, message: "the text has more than one statement")
        }
    }

    deinit { sqlite3_finalize(handle) }
}
