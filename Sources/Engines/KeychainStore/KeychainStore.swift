// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import GRDB
public import Keybag
public import KeychainModel
public import LinuxSystem
internal import Synchronization

/// The encrypted item database: synchronous, safe to use from several threads and from several processes at once.
///
/// It knows rows, keys and uniqueness; who may see what is decided above it. Every call is one transaction.
public final class KeychainStore: Sendable {
    private let connections: ConnectionPool
    let keybag: LockableKeybag
    let attempts: PasscodeAttempts
    /// nil in memory, where there is no log.
    private let idleCheckpoint: IdleCheckpoint?
    private let hasWritten = Flag()
    /// nil where any number of items is taken.
    let itemQuota: ItemQuota?

    /// Opens the keychain at `path`, and makes it where there is none. On a read-only file system it is only read.
    ///
    /// - Parameters:
    ///   - attempts: where wrong passcodes are counted.
    ///   - clock: by which the grace after a lock is measured.
    ///   - quota: how large the keychain may become; nil for no limit.
    ///   - deviceKey: gives the device key; asked with true where the keychain is new and a key may be made for it.
    public convenience init(
        path: String, attempts: PasscodeAttempts, clock: BootClock = .system, quota: KeychainQuota? = nil,
        deviceKey: (_ isNew: Bool) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        try Self.prepareFile(path)
        try self.init(
            path: path, isReadOnly: ReadOnlyDatabase.isNeeded(for: path), attempts: attempts, clock: clock,
            quota: quota,
            deviceKey: deviceKey)
    }

    /// Opens the file at `path`, which exists.
    ///
    /// - Parameter isReadOnly: writes nothing; every change throws ``StoreError/readOnly(path:)``.
    convenience init(
        path: String, isReadOnly: Bool, attempts: PasscodeAttempts, clock: BootClock = .system,
        quota: KeychainQuota? = nil,
        deviceKey: (_ isNew: Bool) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        let connections =
            isReadOnly
            ? ConnectionPool(ReadOnlyDatabase(path: path)) : ConnectionPool(path: path, maxBytes: quota?.bytes)
        try self.init(connections, path: path, attempts: attempts, clock: clock, quota: quota, deviceKey: deviceKey)
    }

    /// A keychain in memory, which ends with the object.
    public convenience init(inMemoryWith deviceKey: DeviceKey, clock: BootClock = .system) throws(StoreError) {
        try self.init(
            ConnectionPool(inMemory: ()), path: nil, attempts: PasscodeAttempts(inMemory: clock), clock: clock,
            quota: nil
        ) { _ in deviceKey }
    }

    private init(
        _ connections: ConnectionPool, path: String?, attempts: PasscodeAttempts, clock: BootClock,
        quota: KeychainQuota?,
        deviceKey: (_ isNew: Bool) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        let isNew = try connections.read(DatabaseSchema.isEmpty)
        if isNew, let path { try Self.refuseEmptied(path, connections) }
        if isNew { try connections.requireWritable() }
        let key: DeviceKey
        do {
            key = try deviceKey(isNew)
        } catch {
            throw .keybag(error)
        }
        if isNew { try Self.create(in: connections, deviceKey: key, isFile: path != nil) }
        if let path, !connections.isReadOnly { unlink(Self.creationMarkerPath(path)) }
        let opened = try connections.read { (database) throws(StoreError) in
            try DatabaseSchema.verify(database)
            return try Self.openKeybag(in: database, deviceKey: key)
        }
        self.connections = connections
        self.attempts = attempts
        itemQuota = quota.map { ItemQuota($0.items) }
        keybag = LockableKeybag(opened, clock: clock)
        // Weak, so that a forgotten store is not kept open by its timer.
        idleCheckpoint =
            path != nil ? IdleCheckpoint { [weak connections] in try? connections.map(Self.truncateLog) } : nil
    }

    /// Whether the database lies on a read-only file system, so that every change throws ``StoreError/readOnly(path:)``.
    public var isReadOnly: Bool { connections.isReadOnly }

    /// Refuses a change before it costs anything.
    func requireWritable() throws(StoreError) { try connections.requireWritable() }

    /// The version of the tables.
    public static var formatVersion: Int { DatabaseSchema.version }

    /// Moves the log into the database and empties it, so that deleted and replaced rows leave the files.
    public func checkpoint() throws(StoreError) {
        try Self.truncateLog(of: connections)
    }

    /// After a change of keys: empties the log, also where somebody reads for a while. The change stands whatever comes of it, and a log that
    /// could not be emptied is tried again when the keychain is idle, and at close.
    func forgetOldKeys() {
        for _ in 0..<Self.checkpointTries {
            if (try? Self.emptyLog(of: connections)) == true { return }
            usleep(100_000)
        }
        idleCheckpoint?.schedule()
    }

    private static let checkpointTries = 20

    /// Empties the log and closes. Calls that are on their way end first; later ones throw ``StoreError/closed``.
    public func close() {
        // Who only read has nothing to move. A failure means that another process is at work, which will do it.
        if hasWritten.value { try? checkpoint() }
        connections.close()
        // Calls that are still on their way have their keys; the last of them takes them along.
        keybag.forget()
    }

    // MARK: Transactions

    /// Runs `body` on one consistent state of the database.
    func read<Result>(_ body: (Database, RowSeal) throws(StoreError) -> Result) throws(StoreError) -> Result {
        for _ in 1...Self.maxAttempts {
            let result = try connections.read { (database) throws(StoreError) -> Result? in
                try currentKeyring(database).map { (keyring) throws(StoreError) in
                    try body(database, RowSeal(keyring: keyring))
                }
            }
            if let result { return result }
        }
        throw .keybag(.damaged("its generation changes faster than it can be read"))
    }

    /// Runs `body` under the keybag that was read last, without a transaction: for a single statement that itself tells the generation.
    ///
    /// The index key never changes (Documentation/Formats/keychain-database.md, "Keybag"), so what it does not find is not there.
    func readOutsideTransaction<Result>(_ body: (Database, RowSeal) throws(StoreError) -> Result) throws(StoreError)
        -> Result
    {
        let seal = RowSeal(keyring: keybag.keyring)
        return try connections.withConnection { (database) throws(StoreError) in try body(database, seal) }
    }

    /// Runs `body` in one transaction; all of it is durable when this returns, or none of it happened.
    ///
    /// - Parameter given: keys to use instead of those that are open, for an operation that has the passcode in its request.
    func write<Result>(
        with given: Keyring? = nil, _ body: (Database, RowSeal) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result: Result
        do throws(StoreError) {
            result = try connections.write { (database) throws(StoreError) in
                guard let current = try currentKeyring(database) else {
                    throw StoreError.keybag(.damaged("its generation went back"))
                }
                if let given, given.generation != current.generation { throw StoreError.keybag(.changedMeanwhile) }
                return try body(database, RowSeal(keyring: given ?? current))
            }
        } catch {
            itemQuota?.forget()
            throw error
        }
        hasWritten.raise()
        idleCheckpoint?.schedule()
        return result
    }

    /// The keys of this transaction: another process may have changed the keybag since the last one. nil where another thread has seen a
    /// newer state than this transaction, whose rows may be sealed under keys that are gone.
    private func currentKeyring(_ database: Database) throws(StoreError) -> Keyring? {
        let generation = try KeybagStorage.generation(in: database)
        let known = keybag.keyring
        guard known.generation != generation else { return known }
        keybag.replace(try Self.openKeybag(in: database, deviceKey: keybag.device.deviceKey))
        let fresh = keybag.keyring
        return fresh.generation == generation ? fresh : nil
    }

    private static func openKeybag(in database: Database, deviceKey: DeviceKey) throws(StoreError) -> DeviceKeybag {
        let stored = try KeybagStorage.load(from: database)
        let opened: DeviceKeybag
        do {
            opened = try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        } catch {
            throw .keybag(error)
        }
        guard try KeybagStorage.generation(in: database) == opened.generation else {
            throw .keybag(.damaged("its generation is not the one that was authenticated"))
        }
        return opened
    }

    private static let maxAttempts = 16

    static func truncateLog(of connections: ConnectionPool) throws(StoreError) {
        _ = try emptyLog(of: connections)
    }

    /// Whether the log is empty now; somebody who reads may be in the way.
    private static func emptyLog(of connections: ConnectionPool) throws(StoreError) -> Bool {
        guard !connections.isReadOnly else { return true }
        return try connections.exclusively { (database) throws(StoreError) in
            // Nobody is waited for: while another process reads, waiting here would make every writer wait as well. The pragma answers
            // a row that says whether somebody was in the way; then the log stays until the next time.
            try RowStatement("PRAGMA busy_timeout = 0", in: database).run()
            defer { _ = try? RowStatement("PRAGMA busy_timeout = \(ConnectionPool.busyTimeout)", in: database).run() }
            let statement = try RowStatement("PRAGMA wal_checkpoint(TRUNCATE)", in: database)
            return try statement.step() && statement.integer(0) == 0
        }
    }

    // MARK: The first time

    private static func create(in connections: ConnectionPool, deviceKey: DeviceKey, isFile: Bool) throws(StoreError) {
        if isFile { try enterLogMode(connections) }
        let keybag: StoredKeybag
        do {
            keybag = try DeviceKeybag.create(deviceKey: deviceKey)
        } catch {
            throw .keybag(error)
        }
        try connections.write { (database) throws(StoreError) in
            // Another first process may have been quicker; then its tables stand.
            guard try DatabaseSchema.isEmpty(database) else { return }
            try DatabaseSchema.migrate(database)
            try KeybagStorage.insert(keybag, into: database)
        }
    }

    /// Switches the new database to the write-ahead log, which stays so for ever.
    ///
    /// SQLite does not wait for other connections here, so that several first processes may have to try again.
    private static func enterLogMode(_ connections: ConnectionPool) throws(StoreError) {
        for attempt in 1... {
            do throws(StoreError) {
                try connections.exclusively { (database) throws(StoreError) in
                    let statement = try RowStatement("PRAGMA journal_mode = WAL", in: database)
                    guard try statement.step(), statement.blob(0) == Array("wal".utf8) else {
                        throw .database(code: 1, message: "the database does not enter write-ahead logging")
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

    /// The file that is there while the tables are made. Without it, an empty database is one that was emptied.
    private static func creationMarkerPath(_ path: String) -> String { "\(path).new" }

    /// Refuses a database without tables that nobody is making: what it held is lost, and a new keychain in its place would hide that.
    private static func refuseEmptied(_ path: String, _ connections: ConnectionPool) throws(StoreError) {
        do throws(SystemError) {
            if try FileStatus.ofLink(creationMarkerPath(path)) != nil { return }
        } catch {
            throw .system(error)
        }
        // The mark goes after the tables have come: perhaps another first process has just finished.
        guard try connections.read(DatabaseSchema.isEmpty) else { return }
        throw .notAKeychain(
            "it is empty, but was not made just now; restore a backup, or remove the file to begin anew")
    }

    /// Makes an empty file of mode 0600, so that SQLite does not make one that follows the umask; its log files take over the mode.
    static func prepareFile(_ path: String, mayCreate: Bool = true) throws(StoreError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try refuseUnsafeFileSystem(folder)
        do throws(SystemError) {
            // A file that exists is looked at without opening it: closing a descriptor would free the locks that SQLite holds on the
            // same file elsewhere in this process (fcntl(2), "Record locking").
            if mayCreate, try FileStatus.ofLink(path) == nil {
                try PrivateFile.createEmpty(creationMarkerPath(path))
                try PrivateFile.createEmpty(path)
                try PrivateDirectory(existing: folder).synchronize()
            }
            guard let status = try FileStatus.ofLink(path) else { throw SystemError("open", path: path, code: ENOENT) }
            guard status.kind == .file else {
                throw SystemError("open", path: path, code: status.kind == .directory ? EISDIR : EINVAL)
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

/// Goes up once, and stays up.
private final class Flag: Sendable {
    private let state = Atomic(false)
    var value: Bool { state.load(ordering: .acquiring) }
    func raise() { state.store(true, ordering: .releasing) }
}
