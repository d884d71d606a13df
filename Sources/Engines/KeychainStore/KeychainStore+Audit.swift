// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Keybag
internal import KeychainModel

/// A place in the audit log: after which line it is, that line's code, and the key of the line that follows.
public struct AuditPosition: ~Copyable, Sendable {
    public var sequence: UInt64
    public var code: [UInt8]
    public var key: AuditKey

    public init(sequence: UInt64, code: [UInt8], key: consuming AuditKey) {
        self.sequence = sequence
        self.code = code
        self.key = key
    }

    public borrowing func copy() -> AuditPosition {
        AuditPosition(sequence: sequence, code: code, key: key.copy())
    }

    /// The beginning of a new log.
    public static func first() -> AuditPosition {
        AuditPosition(sequence: 0, code: [UInt8](repeating: 0, count: 32), key: .random())
    }
}

extension KeychainStore {
    /// Where the log stands, for its writer alone; nil where there is none yet.
    public func auditHead() throws(StoreError) -> AuditPosition? {
        try auditStart(of: Self.headRow)
    }

    /// The numbers of the log's files that are kept, the oldest first.
    public func auditFiles() throws(StoreError) -> [Int64] {
        try read { (database, _) throws(StoreError) in
            guard try DatabaseSchema.hasAudit(database) else { return [] }
            let statement = try RowStatement("SELECT id FROM audit WHERE id > 0 ORDER BY id", in: database)
            var files: [Int64] = []
            while try statement.step() { files.append(statement.integer(0)) }
            return files
        }
    }

    /// Where a file of the log begins.
    public func auditStart(of file: Int64) throws(StoreError) -> AuditPosition? {
        let found = try read { (database, _) throws(StoreError) in try position(file, in: database) }
        return found?.value.copy()
    }

    /// Notes where the log stands.
    public func setAuditHead(_ head: borrowing AuditPosition) throws(StoreError) {
        let copy = SharedPosition(head.copy())
        try write { (database, _) throws(StoreError) in
            try DatabaseSchema.migrate(database)
            try store(copy.value, at: Self.headRow, in: database)
        }
    }

    /// Begins a new file, and forgets all but the last `kept` before it.
    public func beginAuditFile(_ file: Int64, at start: borrowing AuditPosition, keeping kept: Int64) throws(StoreError) {
        let copy = SharedPosition(start.copy())
        try write { (database, _) throws(StoreError) in
            try DatabaseSchema.migrate(database)
            try store(copy.value, at: Self.headRow, in: database)
            try store(copy.value, at: file, in: database)
            let statement = try RowStatement("DELETE FROM audit WHERE id > 0 AND id < ?", in: database)
            try statement.bind(file - kept, at: 1)
            try statement.run()
        }
    }

    private func position(_ row: Int64, in database: Database) throws(StoreError) -> SharedPosition? {
        guard try DatabaseSchema.hasAudit(database) else { return nil }
        let statement = try RowStatement("SELECT sequence, code, key FROM audit WHERE id = ?", in: database)
        try statement.bind(row, at: 1)
        guard try statement.step() else { return nil }
        let (sequence, code) = (UInt64(bitPattern: statement.integer(0)), statement.blob(1))
        do throws(KeybagError) {
            let key = try AuditKey(
                statement.blob(2), by: keybag.device.deviceKey, keychain: keybag.device.keychain,
                place: Self.place(row, sequence, code))
            return SharedPosition(AuditPosition(sequence: sequence, code: code, key: key))
        } catch {
            throw .keybag(.damaged("a position of the audit log is not what was written"))
        }
    }

    private func store(_ position: borrowing AuditPosition, at row: Int64, in database: Database) throws(StoreError) {
        let wrapped: [UInt8]
        do throws(KeybagError) {
            wrapped = try position.key.wrapped(
                by: keybag.device.deviceKey, keychain: keybag.device.keychain, place: Self.place(row, position.sequence, position.code))
        } catch {
            throw .keybag(error)
        }
        let statement = try RowStatement("INSERT OR REPLACE INTO audit (id, sequence, code, key) VALUES (?, ?, ?, ?)", in: database)
        try statement.bind(row, at: 1)
        try statement.bind(Int64(bitPattern: position.sequence), at: 2)
        try statement.bind(position.code, at: 3)
        try statement.bind(wrapped, at: 4)
        try statement.run()
    }

    private static func place(_ row: Int64, _ sequence: UInt64, _ code: [UInt8]) -> [UInt8] {
        row.bigEndianBytes + sequence.bigEndianBytes + code
    }

    private static let headRow: Int64 = 0
}

/// Carries a position into a closure.
private final class SharedPosition {
    let value: AuditPosition
    init(_ value: consuming AuditPosition) { self.value = value }
}
