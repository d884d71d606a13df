// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import SQLiteConnections

/// A ``Statement`` with the types and errors of the store. Its parameters are cleared when the value is released.
struct RowStatement: ~Copyable {
    private let statement: Statement

    init(_ sql: String, in database: Database) throws(StoreError) {
        do throws(DatabaseError) { statement = try Statement(sql, in: database) } catch { throw StoreError(error) }
    }

    // MARK: Parameters, counted from 1

    func bind(_ number: Int64, at index: Int32) throws(StoreError) {
        do throws(DatabaseError) { try statement.bind(number, at: index) } catch { throw StoreError(error) }
    }

    func bind(_ bytes: [UInt8]?, at index: Int32) throws(StoreError) {
        guard let bytes else { return try bindNull(at: index) }
        try bytes.withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try bind(UnsafeRawBufferPointer(bytes), at: index)
        }
    }

    func bind(_ token: SearchToken, at index: Int32) throws(StoreError) {
        try token.withUnsafeBytes { (bytes) throws(StoreError) in try bind(bytes, at: index) }
    }

    /// Binds NULL, or a token. No statement writes a malformed one.
    func bind(_ column: TokenColumn, at index: Int32) throws(StoreError) {
        switch column {
        case .token(let token): try bind(token, at: index)
        case .null, .malformed: try bindNull(at: index)
        }
    }

    private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(StoreError) {
        do throws(DatabaseError) { try statement.bind(bytes, at: index) } catch { throw StoreError(error) }
    }

    private func bindNull(at index: Int32) throws(StoreError) {
        do throws(DatabaseError) { try statement.bindNull(at: index) } catch { throw StoreError(error) }
    }

    // MARK: Running

    /// Moves to the next row; returns false after the last one.
    func step() throws(StoreError) -> Bool {
        do throws(DatabaseError) { return try statement.step() } catch { throw StoreError(error) }
    }

    /// Runs a statement that returns no rows, and returns the number of changed rows.
    @discardableResult
    func run() throws(StoreError) -> Int {
        do throws(DatabaseError) { return try statement.run() } catch { throw StoreError(error) }
    }

    /// Makes the statement ready to run again, with the same parameters or with others.
    func reset() { statement.reset() }

    // MARK: Columns, counted from 0

    func integer(_ column: Int32) -> Int64 { statement.integer(column) }

    /// Returns the number of a column; nil if it is NULL.
    func nullableInteger(_ column: Int32) -> Int64? { statement.isNull(column) ? nil : integer(column) }

    /// Returns the bytes of a column; empty if it is NULL.
    func blob(_ column: Int32) -> [UInt8] { statement.bytes(column) }

    /// Returns the bytes of a column; nil if it is NULL.
    func nullableBlob(_ column: Int32) -> [UInt8]? { statement.isNull(column) ? nil : blob(column) }

    func token(_ column: Int32) -> TokenColumn {
        guard !statement.isNull(column) else { return .null }
        return SearchToken(statement.unsafeBytes(column)).map { .token($0) } ?? .malformed
    }
}

extension StoreError {
    init(_ error: DatabaseError) { self = .database(code: error.code, message: error.message) }
}
