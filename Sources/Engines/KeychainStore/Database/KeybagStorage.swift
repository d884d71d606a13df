// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import SQLiteConnections

/// The row of the keybag. It is in the same database as the items, so that both change in one
/// transaction.
enum KeybagStorage {
    static func insert(_ keybag: StoredKeybag, into database: Database) throws(StoreError) {
        let statement = try RowStatement(
            "INSERT INTO keybag (id, generation, record, device_tag, user_tag) VALUES (1, 1, ?, ?, ?)", in: database)
        try statement.bind(keybag.record, at: 1)
        try statement.bind(keybag.deviceTag, at: 2)
        try statement.bind(keybag.userTag, at: 3)
        try statement.run()
    }

    /// Replaces the keybag of generation `previous`.
    ///
    /// - Throws: ``KeybagError/changedMeanwhile`` if the row has another generation.
    static func replace(
        _ previous: UInt64, by keybag: StoredKeybag, generation: UInt64, in database: Database
    ) throws(StoreError) {
        let statement = try RowStatement(
            "UPDATE keybag SET generation = ?, record = ?, device_tag = ?, user_tag = ? WHERE id = 1 AND generation = ?",
            in: database)
        try statement.bind(Int64(bitPattern: generation), at: 1)
        try statement.bind(keybag.record, at: 2)
        try statement.bind(keybag.deviceTag, at: 3)
        try statement.bind(keybag.userTag, at: 4)
        try statement.bind(Int64(bitPattern: previous), at: 5)
        guard try statement.run() == 1 else { throw .keybag(.changedMeanwhile) }
    }

    /// Returns the generation of the keybag. It changes with every change of the keybag.
    static func generation(in database: Database) throws(StoreError) -> UInt64 {
        let statement = try RowStatement("SELECT generation FROM keybag WHERE id = 1", in: database)
        guard try statement.step() else { throw .notAKeychain("its keybag is missing") }
        return UInt64(bitPattern: statement.integer(0))
    }

    static func load(from database: Database) throws(StoreError) -> StoredKeybag {
        let statement = try RowStatement("SELECT record, device_tag, user_tag FROM keybag WHERE id = 1", in: database)
        guard try statement.step() else { throw .notAKeychain("its keybag is missing") }
        return StoredKeybag(record: statement.blob(0), deviceTag: statement.blob(1), userTag: statement.blob(2))
    }
}
