// SPDX-License-Identifier: Apache-2.0

public import Keybag
internal import KeychainModel
internal import SQLiteConnections

extension KeychainStore {
    /// Sets a passcode on a keychain that has none, and reseals every row that it
    /// protects.
    ///
    /// - Parameter minLength: of the new passcode, in characters.
    /// - Throws: ``KeybagError/passcodeExists`` if a passcode is set.
    public func setPasscode(
        _ new: Passcode, minLength: Int = Passcode.minLength, cost: PasscodeCost = .floor,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) {
        try requireWritable()
        try exclusively { () throws(StoreError) in
            let device = try refresh()
            guard !device.hasPasscode else { throw .keybag(.passcodeExists) }
            let key = try mapKeybagErrors { () throws(KeybagError) in
                try new.requireNew(minLength: minLength)
                let parameters = PasscodeParameters.fresh(cost)
                let key = try device.passcodeKey(new, parameters)
                return (key, try device.settingPasscode(key, parameters))
            }
            try mapKeybagErrors { () throws(KeybagError) in try attempts.clear() }
            try store(key.1, key.0, unlocks: true)
            try reseal(key.0, progress)
        }
    }

    /// Changes the passcode.
    ///
    /// - Parameters:
    ///   - rotates: also generates new class keys and reseals every row.
    ///   - minLength: of the new passcode, in characters.
    public func changePasscode(
        from old: Passcode, to new: Passcode, rotates: Bool, minLength: Int = Passcode.minLength,
        cost: PasscodeCost = .floor,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) {
        try requireWritable()
        try exclusively { () throws(StoreError) in
            try mapKeybagErrors { () throws(KeybagError) in try new.requireNew(minLength: minLength) }
            let previous = try verify(old)
            try reseal(previous, progress)
            let device = keybag.device
            let (key, changed) = try mapKeybagErrors { () throws(KeybagError) in
                let parameters = PasscodeParameters.fresh(cost)
                let key = try device.passcodeKey(new, parameters)
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
    /// that requires a passcode, and those whose constraints only the passcode or biometry
    /// satisfies (keychain-behaviour, T192). Items that an application password or a security key
    /// opens stay.
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
            try removeRetired(nil)
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

    // MARK: Steps

    /// Verifies the passcode if the keychain has one, and completes an interrupted change: that
    /// removes keys which the next change would otherwise keep using.
    func verifyIfSet(_ passcode: Passcode?) throws(StoreError) -> PasscodeKey? {
        guard try refresh().hasPasscode else { return nil }
        guard let passcode else { throw .keybag(.passcodeNeeded) }
        let key = try verify(passcode)
        try reseal(key) { _, _ in }
        return key
    }

    /// Verifies the passcode. The lock state does not change. On a full disk, the attempt is counted in the space
    /// that is kept for deletions: what is locked could not be deleted otherwise.
    ///
    /// - Parameter isAutomatic: whether it comes from a file or a credential.
    func verify(_ passcode: Passcode, isAutomatic: Bool = false) throws(StoreError) -> PasscodeKey {
        let device = try refresh()
        do throws(KeybagError) {
            do throws(KeybagError) {
                return try attempts.verify(passcode, of: device, isAutomatic: isAutomatic).key
            } catch {
                guard StoreError.keybag(error).isFull, let reserve = connections.reserve, reserve.release() else {
                    throw error
                }
                defer { reserve.restore() }
                return try attempts.verify(passcode, of: device, isAutomatic: isAutomatic).key
            }
        } catch .wiped {
            try wipe(device)
            throw .keybag(.wiped)
        } catch {
            throw .keybag(error)
        }
    }

    private func wipe(_ device: DeviceKeybag) throws(StoreError) {
        try store(try mapKeybagErrors { () throws(KeybagError) in try device.wiping() }, nil, isDeletion: true) {
            (database) throws(StoreError) in
            _ = try ConstrainedRows.delete(in: database) { !$0.constraints.terms.isEmpty }
            _ = try Self.deleteRows(ProtectionClass.allCases.filter(\.needsPasscode), in: database)
        }
        try mapKeybagErrors { () throws(KeybagError) in try attempts.clear() }
        try removeRetired(nil)
        forgetOldKeys()
    }

    /// Has the hardware remove what earlier keybags used; what it cannot remove now stays on the
    /// list.
    func removeRetired(_ key: PasscodeKey?) throws(StoreError) {
        let device = keybag.device
        guard device.removeRetired() else { return }
        try store(try mapKeybagErrors { () throws(KeybagError) in try device.forgettingRetired(key) }, key)
    }

    /// Stores a changed keybag, and the changes of `body` in the same transaction. Then the counter
    /// in the hardware counts. Call it only within ``exclusively(_:)``.
    ///
    /// - Parameters:
    ///   - key: the key that unlocks the changed keybag; nil if it has no passcode.
    ///   - deviceKey: the device key of the changed keybag; nil if it is the same.
    ///   - unlocks: also unlocks classes that were never unlocked in this process.
    ///   - isDeletion: whether it may use the space that is kept for deletions; then `body` may run twice.
    func store(
        _ changed: StoredKeybag, _ key: PasscodeKey?, deviceKey: DeviceKey? = nil, unlocks: Bool = false,
        isDeletion: Bool = false,
        _ body: (Database) throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) throws(StoreError) {
        let previous = keybag.device
        // The record may be ahead of the counter by one change only.
        try mapKeybagErrors { () throws(KeybagError) in try previous.advanceCounter() }
        let (next, user) = try mapKeybagErrors { () throws(KeybagError) in
            let next = try DeviceKeybag(opening: changed, deviceKey: deviceKey ?? previous.deviceKey)
            return (next, try key.map { (key) throws(KeybagError) in try next.unlock(with: key) })
        }
        try storing(next, previous, isDeletion: isDeletion) { (database) throws(StoreError) in
            try KeybagStorage.replace(previous.generation, by: changed, generation: next.generation, in: database)
            if previous.counterValue != next.counterValue {
                try AuditTable(previous).rebind(to: AuditTable(next), in: database)
            }
            try body(database)
        }
        keybag.install(next, user, unlocks: unlocks)
        // The change is durable. If the hardware does not count now, the next program that opens the
        // keychain makes it.
        try? next.advanceCounter()
        if let key { try mapKeybagErrors { () throws(KeybagError) in try keybag.openBiometry(with: key) } }
    }

    /// Runs the transaction that stores `next`. If it certainly failed, the hardware forgets what was
    /// made for it.
    private func storing(
        _ next: DeviceKeybag, _ previous: DeviceKeybag, isDeletion: Bool,
        _ body: (Database) throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try write(isDeletion: isDeletion) { (database, _) throws(StoreError) in try body(database) }
        } catch {
            if case .keybag(.changedMeanwhile) = error { next.abandonHardware(keeping: previous) }
            if error.isFull { next.abandonHardware(keeping: previous) }
            throw error
        }
    }

    private static func deleteRows(_ classes: [ProtectionClass], in database: Database) throws(StoreError) -> Int {
        let list = classes.map { "\($0.number)" }.joined(separator: ", ")
        try RowStatement("DELETE FROM quarantine WHERE protection IN (\(list))", in: database).run()
        return try RowStatement("DELETE FROM item WHERE protection IN (\(list))", in: database).run()
    }

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
