// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// What a look at every row of the store found.
public struct StoreInspection: Sendable {
    public var rows = 0
    public var damaged: [DamagedRow] = []
    public var quarantined = 0
    /// What SQLite's own integrity check says; empty where it says "ok".
    public var structure: [String] = []
}

extension KeychainStore {
    /// How many items there are, by class and protection.
    public func counts() throws(StoreError) -> [KeychainStatus.Count] {
        try read { (database, _) throws(StoreError) in
            let statement = try RowStatement(
                "SELECT class, protection, count(*) FROM item WHERE tombstone = 0 GROUP BY class, protection ORDER BY class, protection",
                in: database)
            var counts: [KeychainStatus.Count] = []
            while try statement.step() {
                guard let classNumber = UInt8(exactly: statement.integer(0)), let itemClass = ItemClass(number: classNumber),
                    let protectionNumber = UInt8(exactly: statement.integer(1)),
                    let protection = ProtectionClass(number: protectionNumber)
                else { continue }
                counts.append(.init(itemClass: itemClass, protection: protection, count: Int(statement.integer(2))))
            }
            return counts
        }
    }

    public func quarantinedRows() throws(StoreError) -> Int {
        try read { (database, _) throws(StoreError) in try Quarantine.count(in: database) }
    }

    /// Opens every row, both halves, and has SQLite check its own structures. Rows of closed classes are counted, not opened.
    ///
    /// - Parameter progress: called with the number of rows looked at.
    public func inspect(progress: (Int) -> Void = { _ in }) throws(StoreError) -> StoreInspection {
        try read { (database, seal) throws(StoreError) in
            var inspection = StoreInspection()
            let check = try RowStatement("PRAGMA integrity_check", in: database)
            while try check.step() { inspection.structure.append(String(decoding: check.blob(0), as: UTF8.self)) }
            inspection.structure.removeAll { $0 == "ok" }
            let statement = try RowStatement("SELECT id, \(ItemRow.columns.joined(separator: ", ")) FROM item ORDER BY id", in: database)
            while try statement.step() {
                inspection.rows += 1
                progress(inspection.rows)
                guard let row = ItemRow(statement) else {
                    inspection.damaged.append(DamagedRow(identifier: nil, reason: "a clear column holds what was never written"))
                    continue
                }
                do throws(RowSeal.Failure) {
                    _ = try seal.openWhole(row)
                } catch {
                    if case .damaged(let damage) = error {
                        inspection.damaged.append(DamagedRow(identifier: row.clear.identifier, reason: damage.reason))
                    }
                }
            }
            inspection.quarantined = try Quarantine.count(in: database)
            return inspection
        }
    }
}
