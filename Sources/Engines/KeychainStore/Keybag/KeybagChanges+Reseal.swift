// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel

/// Reports the progress of a long change.
public typealias ResealProgress = (_ done: Int, _ total: Int) -> Void

/// Sealing rows again under the newest keys.
extension KeybagChanges {
    /// Reseals, in batches, every row that is sealed under keys of an earlier generation, and then
    /// removes the earlier keys.
    ///
    /// An interruption keeps the completed batches; the next unlock continues.
    ///
    /// - Parameter evaluation: keys that open shares that the passcode does not open.
    func reseal(
        _ key: PasscodeKey, evaluation: ConstraintKeys? = nil, _ progress: ResealProgress
    ) throws(StoreError) {
        try removeRetired(key)
        let device = store.keybag.device
        guard device.isResealing else { return }
        let (unlocked, resealer) = try store.mapKeybagErrors { () throws(KeybagError) in
            (try device.unlock(with: key), try device.constraintResealer(with: key, evaluation))
        }
        let keyring = Keyring(device, unlocked)
        var stale = Self.stale(store.keybag.device.currentGenerations)
        let total = try store.read { (database, seal) throws(StoreError) in
            // Shares of earlier presence pairs may be in rows of any class.
            if device.isReplacingPairs, seal.columns.hasConstraint { stale += " OR access_constraint IS NOT NULL" }
            let statement = try RowStatement("SELECT count(*) FROM item WHERE \(stale)", in: database)
            return try statement.step() ? Int(statement.integer(0)) : 0
        }
        var last: Int64 = 0
        var done = 0
        progress(0, total)
        while let next = try resealSome(with: keyring, resealer, after: last, stale) {
            (last, done) = (next.last, done + next.count)
            progress(min(done, total), total)
        }
        try save(try store.mapKeybagErrors { () throws(KeybagError) in try device.finishingReseal(key) }, key)
        store.forgetOldKeys()
    }

    private func resealSome(
        with keyring: Keyring, _ resealer: ConstraintResealer, after position: Int64, _ stale: String
    ) throws(StoreError) -> (last: Int64, count: Int)? {
        try store.write(with: keyring, isChange: false) { (database, seal) throws(StoreError) in
            var rows: [ItemRow] = []
            var last: Int64?
            do {
                let statement = try RowStatement(
                    "SELECT id, \(seal.columns.selection) FROM item WHERE id > ? AND (\(stale)) ORDER BY id LIMIT \(Self.batch)",
                    in: database)
                try statement.bind(position, at: 1)
                var size = 0
                while size < Self.batchSize, try statement.step() {
                    last = statement.integer(0)
                    guard let row = ItemRow(statement) else { continue }
                    size += row.secret.count + row.metadata.count
                    rows.append(row)
                }
            }
            guard let last else { return nil }
            for row in rows {
                guard let resealed = try resealed(row, with: seal, resealer) else { continue }
                try store.items(database, seal).replace(resealed)
            }
            return (last, rows.count)
        }
    }

    /// Returns a row under the newest keys; nil if it is damaged, and stays as it is.
    private func resealed(_ row: ItemRow, with seal: RowSeal, _ resealer: ConstraintResealer) throws(StoreError)
        -> ItemRow?
    {
        let record: ItemRecord
        do throws(RowSeal.Failure) {
            guard row.constraint == nil else { return try seal.resealIfNeeded(row, resealer) }
            record = try seal.openWhole(row)
        } catch {
            _ = try error.damage(of: row)
            return nil
        }
        return try seal.seal(record, revision: row.clear.revision + 1, position: row.position)
    }

    /// Returns the SQL condition for rows that are sealed under earlier keys.
    private static func stale(_ current: [ProtectionClass: UInt32]) -> String {
        current.sorted { $0.key.number < $1.key.number }.map {
            "(protection = \($0.key.number) AND generation < \($0.value))"
        }
        .joined(separator: " OR ")
    }

    private static let batch = 256
    /// In bytes.
    private static let batchSize = 8 << 20
}
