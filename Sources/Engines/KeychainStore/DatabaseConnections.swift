// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import GRDB
internal import Glibc
internal import LinuxSystem

/// Opens the database with the settings that the promises rest on.
enum DatabaseConnections {
    /// The database at `path`, made where there is none, with the write-ahead log.
    static func open(_ path: String) throws(StoreError) -> any DatabaseWriter {
        try prepareFile(path)
        do {
            return try DatabasePool(path: path, configuration: configuration)
        } catch {
            throw StoreError(error)
        }
    }

    /// A database in memory.
    static func openInMemory() throws(StoreError) -> any DatabaseWriter {
        do {
            return try DatabaseQueue(configuration: configuration)
        } catch {
            throw StoreError(error)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "latchkey"
        // Other processes write too; a transaction takes milliseconds, so a minute's wait means that one is stuck.
        configuration.busyMode = .timeout(60)
        configuration.maximumReaderCount = 4
        configuration.foreignKeysEnabled = false
        configuration.observesSuspensionNotifications = false
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA synchronous = FULL;
                    PRAGMA secure_delete = ON;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    """)
            if let connection = database.sqliteConnection, latchkey_sqlite_defend(UnsafeMutableRawPointer(connection)) != 0 {
                throw StoreError.database(code: 1, message: "SQLite's defensive mode could not be switched on")
            }
        }
        return configuration
    }

    /// Makes an empty file of mode 0600, so that SQLite does not make one that follows the umask; its log files take over the mode.
    private static func prepareFile(_ path: String) throws(StoreError) {
        do throws(SystemError) {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW
            let descriptor = try OwnedDescriptor(opening: path, flags: flags, mode: 0o600)
            let status = try FileStatus.of(descriptor, path: path)
            guard status.kind == .file else { throw SystemError("open", path: path, code: EINVAL) }
            try status.requirePrivate(path: path, allowed: 0o600)
        } catch {
            throw .system(error)
        }
    }
}
