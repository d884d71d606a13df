// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SQLiteConnections

/// The tables of the database, by version. A published version never changes; a later version is a
/// further migration.
///
/// Documentation/Formats/keychain-database.md describes them.
enum DatabaseSchema {
    /// "LKEY": identifies the file as a keychain (SQLite's `application_id`).
    static let applicationIdentifier: Int32 = 0x4C4B_4559

    /// The version that this code writes (SQLite's `user_version`).
    static let version = migrations.count

    private static let migrations: [[String]] = [version1, version2, version3, version4]

    /// The columns of a row that hold search tokens of single attributes, in the order of the
    /// table.
    static let tokenColumns: [ItemAttribute] = [
        .account, .service, .server, .label, .applicationTag, .applicationLabel, .publicKeyHash, .subject, .issuer,
    ]

    /// Creates or migrates the tables, inside the caller's transaction.
    static func migrate(_ database: Database) throws(StoreError) {
        let found = try storedVersion(database)
        guard found < version else { return }
        let pragmas = ["PRAGMA application_id = \(applicationIdentifier)", "PRAGMA user_version = \(version)"]
        for sql in migrations.dropFirst(found).joined() + pragmas {
            try RowStatement(sql, in: database).run()
        }
    }

    /// Whether the database has the table of the audit log.
    static func hasAudit(_ database: Database) throws(StoreError) -> Bool {
        try storedVersion(database) >= 2
    }

    /// Whether rows have the column of their constraint.
    static func hasConstraints(_ database: Database) throws(StoreError) -> Bool {
        try storedVersion(database) >= 3
    }

    /// Whether the database has the table of lookup tokens.
    static func hasLookup(_ database: Database) throws(StoreError) -> Bool {
        try storedVersion(database) >= 4
    }

    /// Whether ``migrate(_:)`` would change the tables.
    static func needsMigration(_ database: Database) throws(StoreError) -> Bool {
        try storedVersion(database) < version
    }

    /// Whether the database has no version and no tables.
    static func isEmpty(_ database: Database) throws(StoreError) -> Bool {
        let version = try storedVersion(database)
        let count = try number("SELECT count(*) FROM sqlite_schema", in: database)
        return version == 0 && count == 0
    }

    /// Checks that the database is a keychain of a known version, with exactly the expected tables,
    /// indices, views and triggers.
    ///
    /// - Throws: ``StoreError/notAKeychain(_:)``, ``StoreError/newerVersion(found:known:)``.
    static func verify(_ database: Database) throws(StoreError) {
        let foundIdentifier = try number("PRAGMA application_id", in: database)
        let found = try storedVersion(database)
        guard foundIdentifier == applicationIdentifier else {
            throw .notAKeychain("it is a database of another program (application id \(foundIdentifier))")
        }
        guard found <= version else { throw .newerVersion(found: found, known: version) }
        guard found > 0 else { throw .notAKeychain("invalid version \(found)") }
        guard try schemaTexts(of: database) == texts(ofVersion: found).sorted() else {
            throw .notAKeychain("its tables are not those of a version \(found) keychain")
        }
    }

    static func storedVersion(_ database: Database) throws(StoreError) -> Int {
        Int(try number("PRAGMA user_version", in: database))
    }

    private static func number(_ sql: String, in database: Database) throws(StoreError) -> Int64 {
        let statement = try RowStatement(sql, in: database)
        return try statement.step() ? statement.integer(0) : 0
    }

    private static func schemaTexts(of database: Database) throws(StoreError) -> [String] {
        let statement = try RowStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", in: database)
        var texts: [String] = []
        while try statement.step() { texts.append(String(decoding: statement.blob(0), as: UTF8.self)) }
        return texts.sorted()
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
        itemTable("item"),
        itemTable("quarantine"),
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

    /// The audit log of latchkeyd: the end of its lines (row 0), and the start of each of its
    /// files.
    private static let version2 = [
        """
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY,
            sequence INTEGER NOT NULL,
            code BLOB NOT NULL,
            key BLOB NOT NULL
        )
        """
    ]

    /// The constraint of a row; NULL without one.
    private static let version3 = [
        "ALTER TABLE item ADD COLUMN \(constraintColumn)", "ALTER TABLE quarantine ADD COLUMN \(constraintColumn)",
    ]

    private static let constraintColumn = "access_constraint BLOB"

    /// The lookup tokens of passwords. A row has no tokens yet if its `lookup_revision` is not its revision.
    ///
    /// Triggers perform the steps that must not be forgotten: they remove the tokens of a deleted row, and keep a
    /// program of an earlier version that still has the database open from writing rows.
    private static let version4 = [
        "ALTER TABLE item ADD COLUMN \(lookupColumn)", "ALTER TABLE quarantine ADD COLUMN \(lookupColumn)",
        """
        CREATE TABLE lookup (
            token BLOB NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (token, item)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX lookup_item ON lookup (item)",
        "CREATE INDEX item_unindexed ON item (id) WHERE class < 3 AND lookup_revision IS NOT revision",
        """
        CREATE TRIGGER item_deletion AFTER DELETE ON item BEGIN
            DELETE FROM lookup WHERE item = OLD.id;
        END
        """,
        refusal("item_insertion", of: "INSERT"), refusal("item_replacement", of: "UPDATE OF primary_key"),
    ]

    private static let lookupColumn = "lookup_revision INTEGER"

    /// A trigger that refuses rows written without `lookup_revision`.
    private static func refusal(_ name: String, of change: String) -> String {
        """
        CREATE TRIGGER \(name) BEFORE \(change) ON item WHEN NEW.lookup_revision IS NOT NEW.revision BEGIN
            SELECT RAISE(ABORT, 'a later version has migrated the keychain: restart this program');
        END
        """
    }

    /// The texts that SQLite stores for a version. It inserts an added column before the closing
    /// parenthesis of the table.
    private static func texts(ofVersion version: Int) -> [String] {
        let created = migrations.prefix(version).joined().filter { !$0.hasPrefix("ALTER") }
        let columns = [(3, constraintColumn), (4, lookupColumn)].filter { $0.0 <= version }.map { ", \($0.1)" }
        let added = columns.concatenated(separator: "")
        let altered = [itemTable("item"), itemTable("quarantine")]
        return created.map { altered.contains($0) ? "\($0.dropLast())\(added))" : $0 }
    }

    private static func itemTable(_ name: String) -> String {
        """
        CREATE TABLE \(name) (
            id INTEGER PRIMARY KEY,
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
