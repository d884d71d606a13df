// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import LinuxSystem
internal import SQLiteConnections

/// The rows of the table `audit`: row 0 is the end of the log, row n is the start of file n. The
/// keys in the rows are wrapped under the device key.
struct AuditTable {
    let deviceKey: DeviceKey
    let keychain: [UInt8]
    /// The value of the keybag's counter; nil without one. Rows of an earlier value do not open, so
    /// that they cannot be put back.
    let counter: UInt64?

    init(deviceKey: DeviceKey, keychain: [UInt8], counter: UInt64?) {
        (self.deviceKey, self.keychain, self.counter) = (deviceKey, keychain, counter)
    }

    init(_ keybag: DeviceKeybag) {
        self.init(deviceKey: keybag.deviceKey, keychain: keybag.keychain, counter: keybag.counterValue)
    }

    static let headRow: Int64 = 0

    func position(_ row: Int64, in database: Database) throws(StoreError) -> AuditPosition? {
        guard let row = try AuditRow(row, in: database) else { return nil }
        do throws(KeybagError) {
            let key = try AuditKey(row.wrappedKey, by: deviceKey, keychain: keychain, context: context(of: row))
            return AuditPosition(sequence: row.sequence, code: row.code, key: key)
        } catch {
            throw .keybag(.damaged("an audit log position does not authenticate"))
        }
    }

    func store(_ position: borrowing AuditPosition, at number: Int64, in database: Database) throws(StoreError) {
        var row = AuditRow(number: number, sequence: position.sequence, code: position.code, wrappedKey: [])
        do throws(KeybagError) {
            row.wrappedKey = try position.key.wrapped(by: deviceKey, keychain: keychain, context: context(of: row))
        } catch {
            throw .keybag(error)
        }
        try row.write(to: database)
    }

    /// Returns the data that the key of a row is bound to.
    private func context(of row: AuditRow) -> [UInt8] {
        row.number.bigEndianBytes + row.sequence.bigEndianBytes + row.code + (counter?.bigEndianBytes ?? [])
    }

    /// Binds all rows to the counter of another table. Rows that do not open stay as they are.
    func rebind(to next: AuditTable, in database: Database) throws(StoreError) {
        guard try DatabaseSchema.hasAudit(database) else { return }
        var numbers: [Int64] = []
        let statement = try RowStatement("SELECT id FROM audit ORDER BY id", in: database)
        while try statement.step() { numbers.append(statement.integer(0)) }
        for number in numbers {
            do throws(StoreError) {
                guard let position = try position(number, in: database) else { continue }
                try next.store(position, at: number, in: database)
            } catch .keybag(.damaged) {
                continue
            }
        }
    }

    /// Continues the log in a new file under a new key.
    ///
    /// It must be called when a lost device key was replaced by a new one: the new device key
    /// unwraps none of the former audit keys. The lines before the restart can still be read, but
    /// no longer verified.
    func restart(in database: Database) throws(StoreError) {
        guard let head = try AuditRow(Self.headRow, in: database) else { return }
        let newest = try RowStatement("SELECT max(id) FROM audit", in: database)
        let file = try newest.step() ? newest.integer(0) + 1 : 1
        try RowStatement("DELETE FROM audit", in: database).run()
        let start = AuditPosition(sequence: head.sequence, code: head.code, key: .random())
        try store(start, at: Self.headRow, in: database)
        try store(start, at: file, in: database)
    }
}

/// A row of the table.
private struct AuditRow {
    var number: Int64
    var sequence: UInt64
    var code: [UInt8]
    var wrappedKey: [UInt8]
}

extension AuditRow {
    /// Reads a row; nil if the row or the table does not exist.
    init?(_ number: Int64, in database: Database) throws(StoreError) {
        guard try DatabaseSchema.hasAudit(database) else { return nil }
        let statement = try RowStatement("SELECT sequence, code, key FROM audit WHERE id = ?", in: database)
        try statement.bind(number, at: 1)
        guard try statement.step() else { return nil }
        self.init(
            number: number, sequence: UInt64(bitPattern: statement.integer(0)), code: statement.blob(1),
            wrappedKey: statement.blob(2))
    }

    func write(to database: Database) throws(StoreError) {
        let statement = try RowStatement(
            "INSERT OR REPLACE INTO audit (id, sequence, code, key) VALUES (?, ?, ?, ?)", in: database)
        try statement.bind(number, at: 1)
        try statement.bind(Int64(bitPattern: sequence), at: 2)
        try statement.bind(code, at: 3)
        try statement.bind(wrappedKey, at: 4)
        try statement.run()
    }
}
