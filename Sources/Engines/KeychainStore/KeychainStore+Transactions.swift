// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import LinuxSystem
internal import SQLiteConnections

/// How calls read and write the database.
extension KeychainStore {
    /// Runs `body` on one consistent state of the database; again, if it lacked keys of an
    /// application password.
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
                // A transaction that is shared stays as it is.
                if let shared = SharedRead.current(of: connections) { throw shared.end() }
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
        if isMigrated.value { return .newest }
        let columns = RowColumns(version: try DatabaseSchema.storedVersion(database))
        if columns == .newest { isMigrated.raise() }
        return columns
    }

    /// Runs `body` in one transaction. When this returns, all changes are durable; when it throws,
    /// nothing has changed. If `body` lacked keys of an application password, the transaction is
    /// rolled back, and `body` runs again in another one.
    ///
    /// - Parameters:
    ///   - given: keys to use instead of the unlocked ones, for an operation that has the passcode
    ///     in its request.
    ///   - isDeletion: whether `body` only deletes, so that it may use the reserve for a full disk; then it runs again.
    ///   - isChange: false for a transaction that changes nothing that a program can read.
    ///   - use: the constraints that the call satisfies, and the binding of new ones.
    func write<Result>(
        with given: Keyring? = nil, isDeletion: Bool = false, isChange: Bool = true, use: ConstraintUse = .none,
        _ body: (Database, RowSeal) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result = try afterDerivations { (pending) throws(StoreError) in
            try runTransaction(with: given, isDeletion: isDeletion, use, pending, body)
        }
        hasWritten.raise()
        idleCheckpoint?.schedule()
        if isChange, result.isChanged { changes.announce() }
        return result.value
    }

    private func runTransaction<Result>(
        with given: Keyring?, isDeletion: Bool, _ use: ConstraintUse, _ pending: PendingDerivations,
        _ body: (Database, RowSeal) throws(StoreError) -> Result
    ) throws(StoreError) -> (value: Result, isChanged: Bool) {
        do throws(StoreError) {
            return try connections.write(isDeletion: isDeletion) { (database) throws(StoreError) in
                guard let current = try currentKeyring(database) else {
                    throw StoreError.keybag(.damaged("its generation has decreased"))
                }
                if let given, given.generation != current.generation { throw StoreError.keybag(.changedMeanwhile) }
                let before = database.totalChangesCount
                let seal = RowSeal(
                    keyring: given ?? current, columns: try columns(database), use: use, pending: pending)
                let value = try body(database, seal)
                try itemQuota?.finish(in: database)
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
        keybag.replace(try Self.openKeybag(in: database, deviceKey: keybag.device.deviceKey, adoptsRoot: true))
        let fresh = keybag.keyring
        return fresh.generation == generation ? fresh : nil
    }

    static func openKeybag(
        in database: Database, deviceKey: DeviceKey, adoptsRoot: Bool = false
    ) throws(StoreError) -> DeviceKeybag {
        let stored = try KeybagStorage.load(from: database)
        let opened: DeviceKeybag
        do {
            opened = try DeviceKeybag(opening: stored, deviceKey: deviceKey, adoptsRoot: adoptsRoot)
        } catch {
            throw .keybag(error)
        }
        guard try KeybagStorage.generation(in: database) == opened.generation else {
            throw .keybag(.damaged("its generation does not match the authenticated one"))
        }
        return opened
    }

    static func recordedRoot(_ database: Database) throws(StoreError) -> DeviceKey.Root? {
        (try? KeybagStorage.load(from: database))?.root
    }

    func exclusively<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try attempts.exclusively(onSystemError: StoreError.keybag, body)
    }

    func mapKeybagErrors<Result>(_ body: () throws(KeybagError) -> Result) throws(StoreError) -> Result {
        try withErrors(as: StoreError.keybag, body)
    }

    private static let maxAttempts = 16
}
