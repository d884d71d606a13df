// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import GRDB
public import Keybag
public import KeychainModel
public import LinuxSystem
internal import Synchronization

/// The encrypted item database. Its calls are synchronous, and safe from several threads and
/// processes at once.
///
/// It handles rows, keys and uniqueness; callers are authorized in the layers above. Every call is
/// one transaction.
public final class KeychainStore: Sendable {
    private let connections: ConnectionPool
    let keybag: LockableKeybag
    let attempts: PasscodeAttempts
    /// nil in memory, where no log exists.
    private let idleCheckpoint: IdleCheckpoint?
    private let hasWritten = Flag()
    /// Raised once the tables are known to have the newest version, which they keep.
    private let isMigrated = Flag()
    private let changes: ChangeNotifier
    /// nil if the number of items is not limited.
    let itemQuota: ItemQuota?

    /// Opens the keychain at `path`, and creates it if it does not exist. On a read-only file
    /// system it opens for reading only.
    ///
    /// - Parameters:
    ///   - attempts: counts wrong passcodes.
    ///   - clock: measures the grace period after a lock.
    ///   - quota: the maximum size of the keychain; nil for no limit.
    ///   - deviceKey: returns the device key; called with true if the keychain is new and a key may
    ///     be created.
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

    /// Opens the existing file at `path`.
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

    /// Creates a keychain in memory, which is lost when the object is released.
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
        var (opened, isOutdated) = try connections.read { (database) throws(StoreError) in
            try DatabaseSchema.verify(database)
            let opened = try Self.openKeybag(in: database, deviceKey: key)
            return (opened, try DatabaseSchema.needsMigration(database) || opened.canUpgradeRecord)
        }
        if isOutdated, !connections.isReadOnly {
            try Self.migrate(connections, key)
            opened = try connections.read { (database) throws(StoreError) in
                try Self.openKeybag(in: database, deviceKey: key)
            }
        }
        self.connections = connections
        self.attempts = attempts
        itemQuota = quota.map { ItemQuota($0.items) }
        keybag = LockableKeybag(opened, clock: clock)
        changes = ChangeNotifier(path: path)
        // Weak, so that the timer does not keep a released store open.
        idleCheckpoint =
            path != nil ? IdleCheckpoint { [weak connections] in try? connections.map(Self.truncateLog) } : nil
    }

    /// Whether the database is on a read-only file system, so that every change throws
    /// ``StoreError/readOnly(path:)``.
    public var isReadOnly: Bool { connections.isReadOnly }

    /// Throws ``StoreError/readOnly(path:)`` before an expensive operation starts.
    func requireWritable() throws(StoreError) { try connections.requireWritable() }

    /// The version of the tables.
    public static var formatVersion: Int { DatabaseSchema.version }

    /// Moves the log into the database and empties it, so that deleted and replaced rows leave the
    /// files.
    public func checkpoint() throws(StoreError) {
        try Self.truncateLog(of: connections)
    }

    /// Empties the log after a change of keys, and retries while another process or thread reads. A
    /// failure does not undo the change: the log is emptied when the keychain is idle, and at
    /// close.
    func forgetOldKeys() {
        for _ in 0..<Self.checkpointTries {
            if (try? Self.emptyLog(of: connections)) == true { return }
            usleep(100_000)
        }
        idleCheckpoint?.schedule()
    }

    private static let checkpointTries = 20

    /// Empties the log and closes the keychain. Running calls complete; later calls throw
    /// ``StoreError/closed``.
    public func close() {
        // Without writes there is nothing to move. A failure means that another process uses the
        // database; that process will empty the log.
        if hasWritten.value { try? checkpoint() }
        connections.close()
        // Running calls hold their own references to the keys; the last call releases them.
        keybag.forget()
        changes.end()
    }

    // MARK: Observing

    /// Calls `body` after every change by this or another process, until the observer is removed.
    ///
    /// - Returns: a number for ``removeChangeObserver(_:)``.
    public func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(StoreError) -> Int {
        try changes.addObserver(body)
    }

    public func removeChangeObserver(_ number: Int) { changes.removeObserver(number) }

    // MARK: Transactions

    /// Runs `body` on one consistent state of the database; again, if it lacked keys of an application
    /// password.
    ///
    /// - Parameter use: the constraints that the call satisfies.
    func read<Result>(
        _ use: ConstraintUse = .none, _ body: (Database, RowSeal) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try afterDerivations { (pending) throws(StoreError) in
            for _ in 1...Self.maxAttempts {
                let result = try connections.read { (database) throws(StoreError) -> Result? in
                    try currentKeyring(database).map { (keyring) throws(StoreError) in
                        try body(
                            database,
                            RowSeal(keyring: keyring, columns: try columns(database), use: use, pending: pending))
                    }
                }
                if let result { return result }
            }
            throw .keybag(.damaged("its generation changes faster than it can be read"))
        }
    }

    /// Runs `body` with the cached keyring, without a transaction: for a single statement that also
    /// returns the generation.
    ///
    /// The index key never changes (Documentation/Formats/keychain-database.md, "Keybag"), so an
    /// item that the statement does not find does not exist.
    func readOutsideTransaction<Result>(
        _ use: ConstraintUse, _ body: (Database, RowSeal) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try afterDerivations { (pending) throws(StoreError) in
            let keyring = keybag.keyring
            return try connections.withConnection { (database) throws(StoreError) in
                try body(
                    database, RowSeal(keyring: keyring, columns: try columns(database), use: use, pending: pending))
            }
        }
    }

    /// The columns of the tables. A database that cannot be written may be migrated by another
    /// program at any time, so its version is read again.
    private func columns(_ database: Database) throws(StoreError) -> RowColumns {
        if isMigrated.value { return RowColumns(hasConstraint: true) }
        let hasConstraint = try DatabaseSchema.hasConstraints(database)
        if hasConstraint { isMigrated.raise() }
        return RowColumns(hasConstraint: hasConstraint)
    }

    /// Runs `body` in one transaction. When this returns, all changes are durable; when it throws,
    /// nothing has changed. If `body` lacked keys of an application password, the transaction is
    /// rolled back, and `body` runs again in another one.
    ///
    /// - Parameters:
    ///   - given: keys to use instead of the unlocked ones, for an operation that has the passcode in
    ///     its request.
    ///   - isChange: false for a transaction that changes nothing that a program can read.
    ///   - use: the constraints that the call satisfies, and what new ones are bound to.
    func write<Result>(
        with given: Keyring? = nil, isChange: Bool = true, use: ConstraintUse = .none,
        _ body: (Database, RowSeal) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result = try afterDerivations { (pending) throws(StoreError) in
            try runTransaction(with: given, use, pending, body)
        }
        hasWritten.raise()
        idleCheckpoint?.schedule()
        if isChange, result.isChanged { changes.announce() }
        return result.value
    }

    private func runTransaction<Result>(
        with given: Keyring?, _ use: ConstraintUse, _ pending: PendingDerivations,
        _ body: (Database, RowSeal) throws(StoreError) -> Result
    ) throws(StoreError) -> (value: Result, isChanged: Bool) {
        do throws(StoreError) {
            return try connections.write { (database) throws(StoreError) in
                guard let current = try currentKeyring(database) else {
                    throw StoreError.keybag(.damaged("its generation has decreased"))
                }
                if let given, given.generation != current.generation { throw StoreError.keybag(.changedMeanwhile) }
                let before = database.totalChangesCount
                let seal = RowSeal(
                    keyring: given ?? current, columns: try columns(database), use: use, pending: pending)
                let value = try body(database, seal)
                guard pending.isEmpty else { throw StoreError.derivationPending }
                return (value, database.totalChangesCount != before)
            }
        } catch {
            itemQuota?.forget()
            throw error
        }
    }

    /// Returns the keys for this transaction, because another process may have changed the keybag.
    /// Returns nil if another thread has seen a newer state than this transaction: the rows of this
    /// one may be sealed under removed keys.
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
            throw .keybag(.damaged("its generation does not match the authenticated one"))
        }
        return opened
    }

    private static let maxAttempts = 16

    static func truncateLog(of connections: ConnectionPool) throws(StoreError) {
        _ = try emptyLog(of: connections)
    }

    /// Empties the log, and returns whether it is empty; readers can prevent that.
    private static func emptyLog(of connections: ConnectionPool) throws(StoreError) -> Bool {
        guard !connections.isReadOnly else { return true }
        return try connections.exclusively { (database) throws(StoreError) in
            // Do not wait for readers of other processes, because every writer would have to wait,
            // too. The row of the pragma tells whether a reader blocked it; then the log stays
            // until the next time.
            try RowStatement("PRAGMA busy_timeout = 0", in: database).run()
            defer { _ = try? RowStatement("PRAGMA busy_timeout = \(ConnectionPool.busyTimeout)", in: database).run() }
            let statement = try RowStatement("PRAGMA wal_checkpoint(TRUNCATE)", in: database)
            return try statement.step() && statement.integer(0) == 0
        }
    }

    // MARK: Creation

    private static func create(in connections: ConnectionPool, deviceKey: DeviceKey, isFile: Bool) throws(StoreError) {
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

    /// Gives an existing database the tables of this version, and its keybag the version of the record
    /// if no passcode is set, in one transaction. If the disk or the quota is full, both keep their
    /// version: the keychain can be used, but stores no constraints.
    private static func migrate(_ connections: ConnectionPool, _ deviceKey: DeviceKey) throws(StoreError) {
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
    private static func creationMarkerPath(_ path: String) -> String { "\(path).new" }

    /// Throws ``StoreError/notAKeychain(_:)`` for a database without tables that no process is
    /// creating. Its content is lost, and a new keychain in its place would hide that.
    private static func refuseEmptied(_ path: String, _ connections: ConnectionPool) throws(StoreError) {
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

/// A flag that can be raised, but not lowered.
private final class Flag: Sendable {
    private let state = Atomic(false)
    var value: Bool { state.load(ordering: .acquiring) }
    func raise() { state.store(true, ordering: .releasing) }
}
