// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Keybag
internal import LinuxSystem
internal import SQLiteConnections

/// Creating and migrating the file of a keychain.
extension KeychainStore {
    static func create(in connections: ConnectionPool, deviceKey: DeviceKey, isFile: Bool) throws(StoreError) {
        if isFile { try enterLogMode(connections) }
        let keybag: StoredKeybag
        do {
            keybag = try DeviceKeybag.create(deviceKey: deviceKey)
        } catch {
            throw .keybag(error)
        }
        try connections.write { (database) throws(StoreError) in
            // Another process may have created the tables first; then keep them.
            guard try DatabaseSchema.isEmpty(database) else { return }
            try DatabaseSchema.migrate(database)
            try KeybagStorage.insert(keybag, into: database)
        }
    }

    /// Gives an existing database the tables of this version, and its keybag the version of the
    /// record if no passcode is set, in one transaction. If the disk or the quota is full, both
    /// keep their version: the keychain can be used, but stores no constraints.
    static func migrate(_ connections: ConnectionPool, _ deviceKey: DeviceKey) throws(StoreError) {
        do throws(StoreError) {
            try connections.write { (database) throws(StoreError) in
                try DatabaseSchema.verify(database)
                try DatabaseSchema.migrate(database)
                let keybag = try openKeybag(in: database, deviceKey: deviceKey)
                guard let upgraded = try upgradedRecord(of: keybag) else { return }
                try KeybagStorage.replace(
                    keybag.generation, by: upgraded, generation: keybag.generation + 1, in: database)
            }
        } catch {
            guard error.isFull else { throw error }
        }
    }

    private static func upgradedRecord(of keybag: DeviceKeybag) throws(StoreError) -> StoredKeybag? {
        do {
            return try keybag.upgradingRecord()
        } catch {
            throw .keybag(error)
        }
    }

    /// Switches the new database permanently to write-ahead logging.
    ///
    /// SQLite does not wait for other connections here, so the call is repeated while another
    /// process creates the same database.
    private static func enterLogMode(_ connections: ConnectionPool) throws(StoreError) {
        for attempt in 1... {
            do throws(StoreError) {
                try connections.exclusively { (database) throws(StoreError) in
                    let statement = try RowStatement("PRAGMA journal_mode = WAL", in: database)
                    guard try statement.step(), statement.blob(0) == Array("wal".utf8) else {
                        throw .database(code: 1, message: "cannot switch the database to write-ahead logging")
                    }
                }
                return
            } catch {
                guard case .database(let code, _) = error, [5, 6].contains(code & 0xFF), attempt < 1000 else {
                    throw error
                }
                usleep(5000)
            }
        }
    }

    /// The path of the marker file that exists while the tables are created. An empty database
    /// without it has been emptied.
    static func creationMarkerPath(_ path: String) -> String { "\(path).new" }

    /// Throws ``StoreError/notAKeychain(_:)`` for a database without tables that no process is
    /// creating. Its content is lost, and a new keychain in its place would hide that.
    static func refuseEmptied(_ path: String, _ connections: ConnectionPool) throws(StoreError) {
        do throws(SystemError) {
            if try FileStatus.ofLink(creationMarkerPath(path)) != nil { return }
        } catch {
            throw .system(error)
        }
        // The marker file is removed after the tables are created: another process may have
        // finished just now.
        guard try connections.read(DatabaseSchema.isEmpty) else { return }
        throw .notAKeychain(
            "it is empty, but was not created just now; restore a backup, or remove the file to start anew")
    }

    /// Creates an empty file with mode 0600, because SQLite would create one with the mode of the
    /// umask. The log files get the same mode.
    static func prepareFile(_ path: String, mayCreate: Bool = true) throws(StoreError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try refuseUnsafeFileSystem(folder)
        do throws(SystemError) {
            // Check an existing file without opening it: closing a descriptor would release the
            // locks that SQLite holds on the same file in this process (fcntl(2), "Record
            // locking").
            if mayCreate, try FileStatus.ofLink(path) == nil {
                try PrivateFile.createEmpty(creationMarkerPath(path))
                try PrivateFile.createEmpty(path)
                try PrivateDirectory(existing: folder).synchronize()
            }
            guard let status = try FileStatus.ofLink(path) else { throw SystemError("open", path: path, code: ENOENT) }
            guard status.kind == .file else {
                guard status.kind != .directory else { throw SystemError("open", path: path, code: EISDIR) }
                throw SystemError("open", path: "\(path) (a link, a pipe or a device, not a file)", code: EINVAL)
            }
            try status.requirePrivate(path: path, allowed: 0o600)
        } catch {
            throw .system(error)
        }
    }

    private static func refuseUnsafeFileSystem(_ folder: String) throws(StoreError) {
        let kind: String?
        do {
            kind = try FileSystem(holding: folder).unsafeForSharedMemory
        } catch {
            throw .system(error)
        }
        if let kind { throw .unsafeFileSystem(path: folder, kind: kind) }
    }
}
