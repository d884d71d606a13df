// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Keybag
public import KeychainModel
public import LinuxSystem
internal import SQLiteConnections
internal import Synchronization

/// The encrypted item database. Its calls are synchronous, and safe from several threads and
/// processes at once.
///
/// It handles rows, keys and uniqueness; callers are authorized in the layers above. Every call is
/// one transaction.
public final class KeychainStore: Sendable {
    let connections: ConnectionPool
    let keybag: LockableKeybag
    let attempts: PasscodeAttempts
    /// nil in memory, where no log exists.
    let idleCheckpoint: IdleCheckpoint?
    let hasWritten = Flag()
    /// Raised once the tables are known to have the newest version. They keep it.
    let isMigrated = Flag()
    let changes: ChangeNotifier
    /// nil if the number of items is not limited.
    let itemQuota: ItemQuota?

    /// Opens the keychain at `path`, and creates it if it does not exist. On a read-only file
    /// system it opens for reading only.
    ///
    /// - Parameters:
    ///   - attempts: counts wrong passcodes.
    ///   - clock: measures the grace period after a lock.
    ///   - account: the storage account of the user; nil for no limit.
    ///   - deviceKey: returns the device key.
    public convenience init(
        path: String, attempts: PasscodeAttempts, clock: BootClock = .system, account: StorageAccount? = nil,
        deviceKey: (_ place: DeviceKeyPlace) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        try Self.prepareFile(path)
        try self.init(
            path: path, isReadOnly: ReadOnlyDatabase.isNeeded(for: path), attempts: attempts, clock: clock,
            account: account, deviceKey: deviceKey)
    }

    /// Opens the existing keychain at `path` for a report: for reading only, and without a change of any
    /// file. This process must not have it open for writing.
    ///
    /// - Throws: ``StoreError/inUse`` if another process has locked it.
    public convenience init(
        inspecting path: String, attempts: PasscodeAttempts, clock: BootClock = .system,
        deviceKey: (_ place: DeviceKeyPlace) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        try Self.prepareFile(path, mayCreate: false)
        try self.init(
            ConnectionPool(ReadOnlyDatabase(path: path, isInspected: true)), path: path, attempts: attempts,
            clock: clock, account: nil, deviceKey: deviceKey)
    }

    /// Opens the existing file at `path`.
    ///
    /// - Parameter isReadOnly: writes nothing; every change throws ``StoreError/readOnly(path:)``.
    convenience init(
        path: String, isReadOnly: Bool, attempts: PasscodeAttempts, clock: BootClock = .system,
        account: StorageAccount? = nil,
        deviceKey: (_ place: DeviceKeyPlace) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        let connections =
            isReadOnly
            ? ConnectionPool(ReadOnlyDatabase(path: path)) : ConnectionPool(path: path, account: account)
        try self.init(connections, path: path, attempts: attempts, clock: clock, account: account, deviceKey: deviceKey)
    }

    /// Creates a keychain in memory. It is lost when the object is released.
    public convenience init(inMemoryWith deviceKey: DeviceKey, clock: BootClock = .system) throws(StoreError) {
        try self.init(
            ConnectionPool(inMemory: ()), path: nil, attempts: PasscodeAttempts(inMemory: clock), clock: clock,
            account: nil
        ) { _ in deviceKey }
    }

    private init(
        _ connections: ConnectionPool, path: String?, attempts: PasscodeAttempts, clock: BootClock,
        account: StorageAccount?,
        deviceKey: (_ place: DeviceKeyPlace) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        let isNew = try connections.read(DatabaseSchema.isEmpty)
        if isNew, let path { try Self.refuseEmptied(path, connections) }
        if isNew, connections.isInspected {
            throw .notAKeychain("its creation was interrupted; the next use completes it")
        }
        if isNew { try connections.requireWritable() }
        let key: DeviceKey
        let place: DeviceKeyPlace = isNew ? .new : .existing(try connections.read(Self.recordedRoot))
        do {
            key = try deviceKey(place)
        } catch {
            throw .keybag(error)
        }
        if isNew { try Self.create(in: connections, deviceKey: key, isFile: path != nil) }
        if isNew { connections.reserve?.restore() }
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
        opened = try Self.checkCounter(opened, in: connections, attempts)
        self.connections = connections
        self.attempts = attempts
        if let account, let path { itemQuota = ItemQuota(account, path) } else { itemQuota = nil }
        keybag = LockableKeybag(opened, clock: clock)
        changes = ChangeNotifier(path: path)
        // Weak, so that the timer does not keep a released store open.
        idleCheckpoint =
            path != nil ? IdleCheckpoint { [weak connections] in try? connections.map(Self.truncateLog) } : nil
        // With a passcode, most rows are closed now, and are indexed at the unlock.
        if !isNew, !isReadOnly, isOutdated || !opened.hasPasscode { try indexOpenRows() }
    }

    // MARK: Parts

    public var passcode: PasscodeChanges { PasscodeChanges(store: self) }
    public var administration: AdministrationChanges { AdministrationChanges(store: self) }
    public var securityKeys: SecurityKeyChanges { SecurityKeyChanges(store: self) }
    public var roots: RootChanges { RootChanges(store: self) }
    public var backups: StoreBackups { StoreBackups(store: self) }
    public var copies: StoreCopies { StoreCopies(store: self) }
    public var inspector: StoreInspector { StoreInspector(store: self) }
    public var audit: AuditPositions { AuditPositions(store: self) }

    // MARK: The whole store

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
        connections.reserve?.restore()
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

    // MARK: The log

    static func truncateLog(of connections: ConnectionPool) throws(StoreError) {
        // The log may have used the space that the reserve released.
        if try emptyLog(of: connections) { connections.reserve?.restore() }
        connections.recordSize()
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
}

/// The device key that a keychain needs.
public enum DeviceKeyPlace: Sendable {
    /// The keychain is new: a key may be created.
    case new
    /// The one that the keybag says; nil if the keybag cannot be read.
    case existing(DeviceKey.Root?)
}

/// A flag that can be raised, but not lowered.
final class Flag: Sendable {
    private let state = Atomic(false)
    var value: Bool { state.load(ordering: .acquiring) }
    func raise() { state.store(true, ordering: .releasing) }
    /// - Returns: whether it was raised.
    func lower() -> Bool { state.exchange(false, ordering: .acquiringAndReleasing) }
}
