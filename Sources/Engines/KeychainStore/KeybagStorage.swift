// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Keybag

/// The keybag's row. It lies in the same database as the items, so that both change in one transaction.
enum KeybagStorage {
    static func insert(_ keybag: UnlockedKeybag.Stored, into database: Database) throws(StoreError) {
        let statement = try RowStatement(
            "INSERT INTO keybag (id, generation, record, device_tag, user_tag) VALUES (1, 1, ?, ?, ?)", in: database)
        try statement.bind(keybag.record, at: 1)
        try statement.bind(keybag.deviceTag, at: 2)
        try statement.bind(keybag.userTag, at: 3)
        try statement.run()
    }

    /// The number that changes whenever the keybag does.
    static func generation(in database: Database) throws(StoreError) -> UInt64 {
        let statement = try RowStatement("SELECT generation FROM keybag WHERE id = 1", in: database)
        guard try statement.step() else { throw .notAKeychain("its keybag is missing") }
        return UInt64(bitPattern: statement.integer(0))
    }

    static func load(from database: Database) throws(StoreError) -> UnlockedKeybag.Stored {
        let statement = try RowStatement("SELECT record, device_tag, user_tag FROM keybag WHERE id = 1", in: database)
        guard try statement.step() else { throw .notAKeychain("its keybag is missing") }
        return UnlockedKeybag.Stored(record: statement.blob(0), deviceTag: statement.blob(1), userTag: statement.blob(2))
    }
}
