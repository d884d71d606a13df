// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import KeychainModel

/// The tables of the database, by version. A version, once published, never changes: later ones follow as further migrations.
///
/// Documentation/Formats/keychain-database.md describes them.
enum DatabaseSchema {
    /// "LKEY": marks the file as a keychain (SQLite's `application_id`).
    static let applicationIdentifier: Int32 = 0x4C4B_4559

    /// The version that this code writes (SQLite's `user_version`).
    static let version = migrations.count

    private static let migrations: [[String]] = [version1]

    /// The columns of a row that hold search tokens of single attributes, in the order of the table.
    static let tokenColumns: [ItemAttribute] = [
        .account, .service, .server, .label, .applicationTag, .applicationLabel, .publicKeyHash, .subject, .issuer,
    ]

    /// Makes or migrates the tables, inside the caller's transaction.
    static func migrate(_ database: Database) throws {
        let found = try storedVersion(database)
        for (index, statements) in migrations.enumerated() where index >= found {
            for statement in statements {
                try database.execute(sql: statement)
            }
        }
        if found < version {
            try database.execute(sql: "PRAGMA application_id = \(applicationIdentifier)")
            try database.execute(sql: "PRAGMA user_version = \(version)")
        }
    }

    static func storedVersion(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    /// Whether nothing was ever written to the database.
    static func isEmpty(_ database: Database) throws -> Bool {
        try storedVersion(database) == 0 && Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
    }

    /// Refuses a database of another program, of a newer version, or whose tables, indices, views or triggers are not exactly ours.
    static func verify(_ database: Database) throws {
        let mark = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let found = try storedVersion(database)
        guard mark == applicationIdentifier else {
            throw StoreError.notAKeychain("it is a database of another program (application id \(mark))")
        }
        guard found <= version else { throw StoreError.newerVersion(found: found, known: version) }
        guard found > 0 else { throw StoreError.notAKeychain("its version is \(found)") }
        let texts = try String.fetchAll(database, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql")
        guard texts == migrations[..<found].joined().sorted() else {
            throw StoreError.notAKeychain("its tables are not those of a version \(found) keychain")
        }
    }

    private static let version1 = [
        """
        CREATE TABLE keybag (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            generation INTEGER NOT NULL,
            record BLOB NOT NULL,
            device_tag BLOB NOT NULL,
            user_tag BLOB NOT NULL
        )
        """,
        itemTable("item", id: "INTEGER PRIMARY KEY"),
        itemTable("quarantine", id: "INTEGER PRIMARY KEY"),
        "CREATE UNIQUE INDEX item_uuid ON item (uuid)",
        "CREATE UNIQUE INDEX item_primary_key ON item (primary_key)",
        "CREATE INDEX item_group ON item (class, access_group)",
        "CREATE INDEX item_acct ON item (acct, svce, srvr) WHERE acct IS NOT NULL",
        "CREATE INDEX item_svce ON item (svce) WHERE svce IS NOT NULL",
        "CREATE INDEX item_srvr ON item (srvr) WHERE srvr IS NOT NULL",
        "CREATE INDEX item_labl ON item (labl) WHERE labl IS NOT NULL",
        "CREATE INDEX item_atag ON item (atag) WHERE atag IS NOT NULL",
        "CREATE INDEX item_klbl ON item (klbl) WHERE klbl IS NOT NULL",
        "CREATE INDEX item_pkhh ON item (pkhh) WHERE pkhh IS NOT NULL",
        "CREATE INDEX item_subj ON item (subj) WHERE subj IS NOT NULL",
        "CREATE INDEX item_issr ON item (issr) WHERE issr IS NOT NULL",
    ]

    private static func itemTable(_ name: String, id: String) -> String {
        """
        CREATE TABLE \(name) (
            id \(id),
            uuid BLOB NOT NULL,
            class INTEGER NOT NULL,
            protection INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            sync INTEGER NOT NULL,
            tombstone INTEGER NOT NULL,
            primary_key BLOB NOT NULL,
            access_group BLOB NOT NULL,
            acct BLOB, svce BLOB, srvr BLOB, labl BLOB, atag BLOB, klbl BLOB, pkhh BLOB, subj BLOB, issr BLOB,
            metadata BLOB NOT NULL,
            secret BLOB NOT NULL
        )
        """
    }
}
