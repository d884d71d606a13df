// SPDX-License-Identifier: Apache-2.0

internal import CSQLiteCalls

/// An error of SQLite.
public struct DatabaseError: Error, Hashable {
    /// The extended result code (https://www.sqlite.org/rescode.html).
    public let code: Int32
    /// SQLite's error message. It can contain names and text of the statement, but no bound value.
    public let message: String

    init(code: Int32, message: String) { (self.code, self.message) = (code, message) }

    /// The error of the last call with this connection.
    init(of connection: OpaquePointer) {
        self.init(code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)))
    }

    static let closed = DatabaseError(code: SQLITE_MISUSE, message: "the connection is closed")
}
