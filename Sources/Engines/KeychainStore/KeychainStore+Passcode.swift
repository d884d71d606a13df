// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Keybag
public import KeychainModel
internal import SecretMemory

/// Reports the progress of a long change.
public typealias ResealProgress = (_ done: Int, _ total: Int) -> Void

extension KeychainStore {
    // MARK: State

    /// Whether a passcode protects the keychain.
    public var hasPasscode: Bool { keybag.device.hasPasscode }
    public var hasRecoveryKey: Bool { keybag.device.hasRecoveryKey }
    public var settings: KeybagSettings { keybag.device.settings }
    public var lockState: LockState { keybag.lockState }

    /// The remaining seconds of the grace period; nil if none is running.
    public var graceLeft: Double? { keybag.graceLeft }

    /// Whether the class is unlocked, so that its items can be read and written.
    public func isOpen(_ protection: ProtectionClass) -> Bool { keybag.keyring.isOpen(protection) }

    /// Calls `body` with every new lock state.
    public func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { keybag.addObserver(body) }
    public func removeLockObserver(_ number: Int) { keybag.removeObserver(number) }

    /// Returns the keybag as it is stored now, including changes by other processes.
    @discardableResult
    public func refresh() throws(StoreError) -> DeviceKeybag {
        try read { (_, _) throws(StoreError) in () }
        return keybag.device
    }

    /// Returns the number of wrong passcodes since the last correct one, the seconds until the next
    /// passcode is checked, and the seconds since the last wrong one; `elapsed` is nil if that was
    /// before the machine started.
    public func passcodeAttempts() throws(StoreError) -> (count: Int, delay: Int, elapsed: Double?) {
        let device = try refresh()
        // Without a passcode nothing is checked, and the count of an earlier passcode is
        // irrelevant.
        guard device.hasPasscode else { return (0, 0, nil) }
        do {
            return (try attempts.count(for: device), try attempts.delay(for: device), try attempts.elapsed(for: device))
        } catch .attemptsDamaged {
            // The next check of a passcode reports the damage. Reading the state does not fail.
            return (0, 0, nil)
        } catch {
            throw .keybag(error)
        }
    }

    // MARK: Lock and unlock

    /// Locks the keychain; see ``LockableKeybag/lock(immediately:)``. Removes deleted data from the
    /// files.
    public func lock(immediately: Bool) {
        keybag.lock(immediately: immediately)
        try? checkpoint()  // If this fails, the log is emptied later. The keychain stays locked.
    }

    /// Unlocks the keychain, and completes an interrupted change of the passcode if the database is
    /// writable.
    ///
    /// - Parameter floor: the minimum cost; the cost of a cheaper passcode is raised to it.
    public func unlock(_ passcode: Passcode, floor: PasscodeCost = .floor, progress: ResealProgress = { _, _ in })
        throws(StoreError)
    {
        try exclusively { () throws(StoreError) in
            guard try refresh().hasPasscode else { return }
            var key = try verify(passcode)
            let device = keybag.device
            keybag.unlock(try mapKeybagErrors { () throws(KeybagError) in try device.unlock(with: key) })
            try mapKeybagErrors { () throws(KeybagError) in try keybag.openBiometry(with: key) }
            guard !isReadOnly else { return }
            if let raised = try raiseCost(passcode, key, to: floor) { key = raised }
            try addPresence(key)
            try reseal(key, progress)
        }
    }

    // MARK: The passcode

    /// Sets a passcode on a keychain that has none, and reseals every row that it
    /// protects.
    ///
    /// - Throws: ``KeybagError/passcodeExists`` if a passcode is set.
    public func setPasscode(_ new: Passcode, cost: PasscodeCost = .floor, progress: ResealProgress = { _, _ in })
        throws(StoreError)
    {
        try requireWritable()
        try exclusively { () throws(StoreError) in
            let device = try refresh()
            guard !device.hasPasscode else { throw .keybag(.passcodeExists) }
            let key = try mapKeybagErrors { () throws(KeybagError) in
                try new.requireNew()
                let parameters = PasscodeParameters.fresh(cost)
                let key = try PasscodeKey.derive(new, parameters)
                return (key, try device.settingPasscode(key, parameters))
            }
            try mapKeybagErrors { () throws(KeybagError) in try attempts.clear() }
            try store(key.1, key.0, unlocks: true)
            try reseal(key.0, progress)
        }
    }

    /// Changes the passcode.
    ///
    /// - Parameter rotates: also generates new class keys and reseals every row.
    public func changePasscode(
        from old: Passcode, to new: Passcode, rotates: Bool, cost: PasscodeCost = .floor,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) {
        try requireWritable()
        try exclusively { () throws(StoreError) in
            try mapKeybagErrors { () throws(KeybagError) in try new.requireNew() }
            let previous = try verify(old)
            try reseal(previous, progress)
            let device = keybag.device
            let (key, changed) = try mapKeybagErrors { () throws(KeybagError) in
                let parameters = PasscodeParameters.fresh(cost)
                let key = try PasscodeKey.derive(new, parameters)
                return (
                    key,
                    try device.changingPasscode(from: previous, to: key, parameters, rotates: rotates)
                )
            }
            try store(changed, key)
            try reseal(key, progress)
            forgetOldKeys()
        }
    }

    /// Removes the passcode, and every item that then cannot be opened any more: those of the class
    /// that requires a passcode, and those whose constraints only the passcode or biometry satisfies
    /// (keychain-behaviour, T192). Items that an application password or a security key opens stay.
    ///
    /// - Returns: the number of deleted items.
    public func removePasscode(_ passcode: Passcode, progress: ResealProgress = { _, _ in }) throws(StoreError) -> Int {
        try requireWritable()
        return try exclusively { () throws(StoreError) in
            let key = try verify(passcode)
            try reseal(key, progress)
            let device = keybag.device
            let changed = try mapKeybagErrors { () throws(KeybagError) in
                try device.removingPasscode(key)
            }
            var count = 0
            try store(changed, nil) { (database) throws(StoreError) in
                count = try ConstrainedRows.delete(in: database) { !device.canSatisfyWithoutPasscode($0) }
                count += try Self.deleteRows([.whenPasscodeSetThisDeviceOnly], in: database)
            }
            forgetOldKeys()
            return count
        }
    }

    /// The number of items that ``removePasscode(_:progress:)`` would delete.
    public var itemsRequiringPasscode: Int {
        get throws(StoreError) {
            try read { (database, _) throws(StoreError) in
                let device = keybag.device
                guard device.hasPasscode else { return 0 }
                let protection = ProtectionClass.whenPasscodeSetThisDeviceOnly
                let statement = try RowStatement(
                    "SELECT count(*) FROM item WHERE protection = \(protection.number)", in: database)
                let count = try statement.step() ? Int(statement.integer(0)) : 0
                return count
                    + (try ConstrainedRows.count(in: database, except: [protection]) {
                        !device.canSatisfyWithoutPasscode($0)
                    })
            }
        }
    }

    // MARK: Recovery key and settings

    /// Creates a recovery key, which replaces an earlier one.
    public func createRecoveryKey(_ passcode: Passcode?) throws(StoreError) -> RecoveryKey {
        let recovery = RecoveryKey.random()
        try administer(passcode) { (device, key) throws(KeybagError) in
            try device.addingRecoveryKey(recovery, key)
        }
        return recovery
    }

    /// Removes the recovery key.
    ///
    /// - Returns: false if there was none.
    public func removeRecoveryKey(_ passcode: Passcode?) throws(StoreError) -> Bool {
        guard try refresh().hasRecoveryKey else { return false }
        try administer(passcode) { (device, key) throws(KeybagError) in try device.removingRecoveryKey(key) }
        return true
    }

    public func changeSettings(to settings: KeybagSettings, _ passcode: Passcode?) throws(StoreError) {
        try administer(passcode) { (device, key) throws(KeybagError) in try device.changingSettings(to: settings, key) }
    }

    /// Returns all keys that the passcode unlocks, for one operation that has the passcode in its
    /// request, independently of the lock state.
    func keyringForAdministration(_ passcode: Passcode?) throws(StoreError) -> Keyring {
        try exclusively { () throws(StoreError) in
            let device = try refresh()
            guard device.hasPasscode else { return keybag.keyring }
            guard let passcode else { throw .keybag(.passcodeNeeded) }
            let key = try verify(passcode)
            let now = keybag.device
            return Keyring(now, try mapKeybagErrors { () throws(KeybagError) in try now.unlock(with: key) })
        }
    }

    // MARK: Steps

    /// Changes the keybag. Verifies the passcode if the keychain has one.
    private func administer(
        _ passcode: Passcode?, _ change: (DeviceKeybag, PasscodeKey?) throws(KeybagError) -> StoredKeybag
    ) throws(StoreError) {
        try requireWritable()
        try exclusively { () throws(StoreError) in
            let key = try verifyIfSet(passcode)
            let device = keybag.device
            try store(try mapKeybagErrors { () throws(KeybagError) in try change(device, key) }, key)
            forgetOldKeys()
        }
    }

    /// Verifies the passcode if the keychain has one, and completes an interrupted change: that
    /// removes keys which the next change would otherwise keep using.
    func verifyIfSet(_ passcode: Passcode?) throws(StoreError) -> PasscodeKey? {
        guard try refresh().hasPasscode else { return nil }
        guard let passcode else { throw .keybag(.passcodeNeeded) }
        let key = try verify(passcode)
        try reseal(key) { _, _ in }
        return key
    }

    /// Verifies the passcode. The lock state does not change.
    func verify(_ passcode: Passcode) throws(StoreError) -> PasscodeKey {
        let device = try refresh()
        do throws(KeybagError) {
            return try attempts.verify(passcode, of: device).key
        } catch .wiped {
            try wipe(device)
            throw .keybag(.wiped)
        } catch {
            throw .keybag(error)
        }
    }

    private func wipe(_ device: DeviceKeybag) throws(StoreError) {
        try store(try mapKeybagErrors { () throws(KeybagError) in try device.wiping() }, nil) {
            (database) throws(StoreError) in
            _ = try ConstrainedRows.delete(in: database) { !$0.constraints.terms.isEmpty }
            _ = try Self.deleteRows(ProtectionClass.allCases.filter(\.needsPasscode), in: database)
        }
        try mapKeybagErrors { () throws(KeybagError) in try attempts.clear() }
        forgetOldKeys()
    }

    /// Wraps the keys under a more expensive derivation if the cost is below `floor`; returns nil
    /// if it is not.
    private func raiseCost(_ passcode: Passcode, _ key: PasscodeKey, to floor: PasscodeCost) throws(StoreError)
        -> PasscodeKey?
    {
        let device = keybag.device
        guard let cost = device.passcodeCost, cost.isBelow(floor) else { return nil }
        let (raised, changed) = try mapKeybagErrors { () throws(KeybagError) in
            let parameters = PasscodeParameters.fresh(floor)
            let raised = try PasscodeKey.derive(passcode, parameters)
            return (
                raised,
                try device.changingPasscode(from: key, to: raised, parameters, rotates: false)
            )
        }
        return try storeUnlessFull(changed, raised) ? raised : nil
    }

    /// Creates the presence pairs of a keychain whose passcode was set by an older version.
    func addPresence(_ key: PasscodeKey) throws(StoreError) {
        let device = keybag.device
        let changed = try mapKeybagErrors { () throws(KeybagError) in try device.addingPresence(key) }
        if let changed { _ = try storeUnlessFull(changed, key) }
    }

    /// Stores a changed keybag; returns false if the disk or the quota is full. The next unlock tries
    /// again.
    private func storeUnlessFull(_ changed: StoredKeybag, _ key: PasscodeKey) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try store(changed, key)
            return true
        } catch {
            guard error.isFull else { throw error }
            return false
        }
    }

    /// Stores a changed keybag, and the changes of `body` in the same transaction.
    ///
    /// - Parameters:
    ///   - key: the key that unlocks the changed keybag; nil if it has no passcode.
    ///   - unlocks: also unlocks classes that were never unlocked in this process.
    func store(
        _ changed: StoredKeybag, _ key: PasscodeKey?, unlocks: Bool = false,
        _ body: (Database) throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) throws(StoreError) {
        let previous = keybag.device
        let (next, user) = try mapKeybagErrors { () throws(KeybagError) in
            let next = try DeviceKeybag(opening: changed, deviceKey: previous.deviceKey)
            return (next, try key.map { (key) throws(KeybagError) in try next.unlock(with: key) })
        }
        try write { (database, _) throws(StoreError) in
            try KeybagStorage.replace(previous.generation, by: changed, generation: next.generation, in: database)
            try body(database)
        }
        keybag.install(next, user, unlocks: unlocks)
        if let key { try mapKeybagErrors { () throws(KeybagError) in try keybag.openBiometry(with: key) } }
    }

    // MARK: Resealing

    /// Reseals, in batches, every row that is sealed under keys of an earlier generation, and then
    /// removes the earlier keys.
    ///
    /// An interruption keeps the completed batches; the next unlock continues.
    ///
    /// - Parameter evaluation: keys that open shares which the passcode does not open.
    func reseal(
        _ key: PasscodeKey, evaluation: ConstraintKeys? = nil, _ progress: ResealProgress
    ) throws(StoreError) {
        let device = keybag.device
        guard device.isResealing else { return }
        let (unlocked, resealer) = try mapKeybagErrors { () throws(KeybagError) in
            (try device.unlock(with: key), try device.constraintResealer(with: key, evaluation))
        }
        let keyring = Keyring(device, unlocked)
        var stale = Self.stale(keybag.device.currentGenerations)
        let total = try read { (database, seal) throws(StoreError) in
            // Shares of earlier presence pairs may be in rows of any class.
            if device.isReplacingPairs, seal.columns.hasConstraint { stale += " OR access_constraint IS NOT NULL" }
            let statement = try RowStatement("SELECT count(*) FROM item WHERE \(stale)", in: database)
            return try statement.step() ? Int(statement.integer(0)) : 0
        }
        var last: Int64 = 0
        var done = 0
        progress(0, total)
        while let next = try resealSome(with: keyring, resealer, after: last, stale) {
            (last, done) = (next.last, done + next.count)
            progress(min(done, total), total)
        }
        try store(try mapKeybagErrors { () throws(KeybagError) in try device.finishingReseal(key) }, key)
        forgetOldKeys()
    }

    private func resealSome(
        with keyring: Keyring, _ resealer: ConstraintResealer, after position: Int64, _ stale: String
    ) throws(StoreError) -> (last: Int64, count: Int)? {
        try write(with: keyring, isChange: false) { (database, seal) throws(StoreError) in
            var rows: [ItemRow] = []
            var last: Int64?
            do {
                let statement = try RowStatement(
                    "SELECT id, \(seal.columns.selection) FROM item WHERE id > ? AND (\(stale)) ORDER BY id LIMIT \(Self.batch)",
                    in: database)
                try statement.bind(position, at: 1)
                var size = 0
                while size < Self.batchSize, try statement.step() {
                    last = statement.integer(0)
                    guard let row = ItemRow(statement) else { continue }
                    size += row.secret.count + row.metadata.count
                    rows.append(row)
                }
            }
            guard let last else { return nil }
            for row in rows {
                guard let resealed = try resealed(row, with: seal, resealer) else { continue }
                try replace(resealed, in: database, seal)
            }
            return (last, rows.count)
        }
    }

    /// Returns a row under the newest keys; nil if it is damaged, and stays as it is.
    private func resealed(_ row: ItemRow, with seal: RowSeal, _ resealer: ConstraintResealer) throws(StoreError)
        -> ItemRow?
    {
        let record: ItemRecord
        do throws(RowSeal.Failure) {
            guard row.constraint == nil else { return try seal.resealIfNeeded(row, resealer) }
            record = try seal.openWhole(row)
        } catch {
            _ = try error.damage(of: row)
            return nil
        }
        return try seal.seal(record, revision: row.clear.revision + 1, position: row.position)
    }

    /// Returns the SQL condition for rows that are sealed under earlier keys.
    private static func stale(_ current: [ProtectionClass: UInt32]) -> String {
        current.sorted { $0.key.number < $1.key.number }.map {
            "(protection = \($0.key.number) AND generation < \($0.value))"
        }
        .joined(separator: " OR ")
    }

    private static func deleteRows(_ classes: [ProtectionClass], in database: Database) throws(StoreError) -> Int {
        let list = classes.map { "\($0.number)" }.joined(separator: ", ")
        try RowStatement("DELETE FROM quarantine WHERE protection IN (\(list))", in: database).run()
        return try RowStatement("DELETE FROM item WHERE protection IN (\(list))", in: database).run()
    }

    private static let batch = 256
    /// In bytes.
    private static let batchSize = 8 << 20

    // MARK: Errors

    func exclusively<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try attempts.exclusively(onSystemError: StoreError.keybag, body)
    }

    func mapKeybagErrors<Result>(_ body: () throws(KeybagError) -> Result) throws(StoreError) -> Result {
        do {
            return try body()
        } catch {
            throw .keybag(error)
        }
    }
}
