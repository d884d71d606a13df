// SPDX-License-Identifier: Apache-2.0

internal import Keybag

/// Where the audit log of a keychain begins and ends. The log itself is in files beside the keychain.
public struct AuditPositions {
    let store: KeychainStore

    /// Returns the end of the log, for the only writer of the log; nil if there is no log yet.
    public func head() throws(StoreError) -> AuditPosition? {
        try start(of: AuditTable.headRow)
    }

    /// Returns the numbers of the log files that are kept, oldest first.
    public func files() throws(StoreError) -> [Int64] {
        try store.read { (database, _) throws(StoreError) in
            guard try DatabaseSchema.hasAudit(database) else { return [] }
            let statement = try RowStatement("SELECT id FROM audit WHERE id > 0 ORDER BY id", in: database)
            var files: [Int64] = []
            while try statement.step() { files.append(statement.integer(0)) }
            return files
        }
    }

    /// Returns the start of a log file; nil if the file is not known.
    public func start(of file: Int64) throws(StoreError) -> AuditPosition? {
        let found = try store.read { (database, _) throws(StoreError) -> AuditPositionBox? in
            guard let position = try table.position(file, in: database) else { return nil }
            return AuditPositionBox(position)
        }
        return found?.value.copy()
    }

    /// Stores the end of the log.
    public func setHead(_ head: borrowing AuditPosition) throws(StoreError) {
        let copy = AuditPositionBox(head.copy())
        try store.write(isChange: false) { (database, _) throws(StoreError) in
            try DatabaseSchema.migrate(database)
            try table.store(copy.value, at: AuditTable.headRow, in: database)
        }
    }

    /// Starts a new log file, and removes the rows of all earlier files except the last `kept`.
    public func beginFile(_ file: Int64, at start: borrowing AuditPosition, keeping kept: Int64) throws(StoreError) {
        let copy = AuditPositionBox(start.copy())
        try store.write(isChange: false) { (database, _) throws(StoreError) in
            try DatabaseSchema.migrate(database)
            try table.store(copy.value, at: AuditTable.headRow, in: database)
            try table.store(copy.value, at: file, in: database)
            let statement = try RowStatement("DELETE FROM audit WHERE id > 0 AND id < ?", in: database)
            try statement.bind(file - kept, at: 1)
            try statement.run()
        }
    }

    private var table: AuditTable {
        AuditTable(store.keybag.device)
    }
}

/// Holds a position so that a closure can capture it.
private final class AuditPositionBox {
    let value: AuditPosition
    init(_ value: consuming AuditPosition) { self.value = value }
}
