// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Keybag
internal import KeychainModel
internal import LinuxSystem
internal import Synchronization

/// The encrypted item database: synchronous, safe to use from several threads and from several processes at once.
///
/// It knows rows, keys and uniqueness; who may see what is decided above it. Every call is one transaction.
public final class KeychainStore: Sendable {
    let database: any DatabaseWriter
    private let deviceKey: DeviceKey
    private let keybag: Mutex<UnlockedKeybag>
    private let isFile: Bool
    private let isClosed = Flag()
    private let idleCheckpoint: IdleCheckpoint

    /// Opens the keychain at `path`, and makes it where there is none.
    ///
    /// - Parameter deviceKey: gives the device key; asked with true where the keychain is new and a key may be made for it.
    public convenience init(path: String, deviceKey: (_ isNew: Bool) throws(KeybagError) -> DeviceKey) throws(StoreError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        do {
            if let kind = try FileSystem(holding: folder).unsafeForSharedMemory {
                throw StoreError.unsafeFileSystem(path: folder, kind: kind)
            }
        } catch let error as SystemError {
            throw .system(error)
        } catch {
            throw StoreError(error)
        }
        try self.init(DatabaseConnections.open(path), isFile: true, deviceKey: deviceKey)
    }

    /// A keychain in memory, which ends with the object.
    public convenience init(inMemoryWith deviceKey: DeviceKey) throws(StoreError) {
        try self.init(DatabaseConnections.openInMemory(), isFile: false) { _ in deviceKey }
    }

    private init(
        _ database: any DatabaseWriter, isFile: Bool, deviceKey: (_ isNew: Bool) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) {
        let isNew: Bool = try Self.run { try database.writeWithoutTransaction { try DatabaseSchema.isEmpty($0) } }
        let key: DeviceKey
        do {
            key = try deviceKey(isNew)
        } catch {
            throw .keybag(error)
        }
        if isNew {
            try Self.run {
                try database.write { connection in
                    // Another first process may have been quicker; then its tables stand.
                    guard try DatabaseSchema.isEmpty(connection) else { return }
                    try DatabaseSchema.migrate(connection)
                    try KeybagStorage.insert(try UnlockedKeybag.create(deviceKey: key), into: connection)
                }
            }
        }
        let opened: UnlockedKeybag = try Self.run {
            try database.writeWithoutTransaction { connection in
                try DatabaseSchema.verify(connection)
                return try UnlockedKeybag(opening: try KeybagStorage.load(from: connection), deviceKey: key)
            }
        }
        self.database = database
        self.deviceKey = key
        keybag = Mutex(opened)
        self.isFile = isFile
        let isClosed = self.isClosed
        // Weak, so that a forgotten store is not kept open by its timer.
        idleCheckpoint = IdleCheckpoint { [weak database] in
            try? database?.writeWithoutTransaction { if !isClosed.value { _ = try $0.checkpoint(.truncate) } }
        }
    }

    /// The version of the tables.
    public static var formatVersion: Int { DatabaseSchema.version }

    /// Whether a passcode protects the keychain.
    public var hasPasscode: Bool { keybag.withLock { $0.hasPasscode } }

    /// Moves the log into the database and empties it, so that deleted and replaced rows leave the files.
    public func checkpoint() throws(StoreError) {
        guard isFile else { return }
        try Self.run {
            try database.writeWithoutTransaction { connection in
                try requireOpen()
                _ = try connection.checkpoint(.truncate)
            }
        }
    }

    /// Checkpoints and closes; the store can't be used afterwards.
    public func close() throws(StoreError) {
        guard !isClosed.value else { return }
        try? checkpoint()  // A reader in another process may hold the log; closing is still right then.
        // Whoever comes later finds the flag and not the closed connection, which SQLite does not survive.
        isClosed.raise()
        try Self.run { try database.close() }
    }

    // MARK: Transactions

    /// Runs `body` on one consistent state of the database.
    func read<Result>(_ body: (Database, RowSeal) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try Self.run { try database.read { try body($0, RowSeal(keyring: try self.currentKeybag($0))) } }
    }

    /// Runs `body` in one transaction; all of it is durable when this returns, or none of it happened.
    func write<Result>(_ body: (Database, RowSeal) throws(StoreError) -> Result) throws(StoreError) -> Result {
        let result = try Self.run { try database.write { try body($0, RowSeal(keyring: try self.currentKeybag($0))) } }
        if isFile { idleCheckpoint.schedule() }
        return result
    }

    /// The keybag of this transaction: another process may have changed it since the last one.
    private func currentKeybag(_ connection: Database) throws(StoreError) -> UnlockedKeybag {
        try requireOpen()
        let generation = try KeybagStorage.generation(in: connection)
        let known = keybag.withLock { $0 }
        guard known.generation != generation else { return known }
        let stored = try KeybagStorage.load(from: connection)
        do {
            let reloaded = try UnlockedKeybag(opening: stored, deviceKey: deviceKey)
            keybag.withLock { $0 = reloaded }
            return reloaded
        } catch {
            throw .keybag(error)
        }
    }

    private func requireOpen() throws(StoreError) {
        guard !isClosed.value else { throw .closed }
    }

    private static func run<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do {
            return try body()
        } catch let error as KeybagError {
            throw .keybag(error)
        } catch {
            throw StoreError(error)
        }
    }
}

/// Goes up once, and stays up.
private final class Flag: Sendable {
    private let state = Atomic(false)
    var value: Bool { state.load(ordering: .acquiring) }
    func raise() { state.store(true, ordering: .releasing) }
}
