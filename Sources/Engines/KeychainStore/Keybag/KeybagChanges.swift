// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import SQLiteConnections

/// The steps of changes of the keybag. Each change verifies the passcode, stores a keybag, and reseals the rows with
/// replaced keys.
struct KeybagChanges {
    let store: KeychainStore

    /// Verifies the passcode if the keychain has one, and completes an interrupted change. That removes keys that the
    /// next change would otherwise keep using.
    func verifyIfSet(_ passcode: Passcode?) throws(StoreError) -> PasscodeKey? {
        guard try store.refresh().hasPasscode else { return nil }
        guard let passcode else { throw .keybag(.passcodeNeeded) }
        let key = try verify(passcode)
        try reseal(key) { _, _ in }
        return key
    }

    /// Verifies the passcode. The lock state does not change. On a full disk, the attempt is counted in the space kept
    /// for deletions: locked items could not be deleted otherwise.
    ///
    /// - Parameter isAutomatic: whether it comes from a file or a credential.
    func verify(_ passcode: Passcode, isAutomatic: Bool = false) throws(StoreError) -> PasscodeKey {
        let device = try store.refresh()
        do throws(KeybagError) {
            do throws(KeybagError) {
                return try store.attempts.verify(passcode, of: device, isAutomatic: isAutomatic).key
            } catch {
                guard StoreError.keybag(error).isFull, let reserve = store.connections.reserve, reserve.release() else {
                    throw error
                }
                defer { reserve.restore() }
                return try store.attempts.verify(passcode, of: device, isAutomatic: isAutomatic).key
            }
        } catch .wiped {
            try wipe(device)
            throw .keybag(.wiped)
        } catch {
            throw .keybag(error)
        }
    }

    private func wipe(_ device: DeviceKeybag) throws(StoreError) {
        try save(try store.mapKeybagErrors { () throws(KeybagError) in try device.wiping() }, nil, isDeletion: true) {
            (database) throws(StoreError) in
            _ = try ConstrainedRows.delete(in: database) { !$0.constraints.terms.isEmpty }
            _ = try Self.deleteRows(ProtectionClass.allCases.filter(\.needsPasscode), in: database)
        }
        try store.mapKeybagErrors { () throws(KeybagError) in try store.attempts.clear() }
        try removeRetired(nil)
        store.forgetOldKeys()
    }

    /// Has the hardware remove the objects of earlier keybags; objects that it cannot remove now stay on the list.
    func removeRetired(_ key: PasscodeKey?) throws(StoreError) {
        let device = store.keybag.device
        guard device.removeRetired() else { return }
        try save(try store.mapKeybagErrors { () throws(KeybagError) in try device.forgettingRetired(key) }, key)
    }

    /// Stores a changed keybag, and the changes of `body` in the same transaction. Then the counter
    /// in the hardware counts. Call it only within ``exclusively(_:)``.
    ///
    /// - Parameters:
    ///   - key: the key that unlocks the changed keybag; nil if it has no passcode.
    ///   - deviceKey: the device key of the changed keybag; nil if it is the same.
    ///   - unlocks: also unlocks classes that were never unlocked in this process.
    ///   - isDeletion: whether it may use the space that is kept for deletions; then `body` may run twice.
    func save(
        _ changed: StoredKeybag, _ key: PasscodeKey?, deviceKey: DeviceKey? = nil, unlocks: Bool = false,
        isDeletion: Bool = false,
        _ body: (Database) throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) throws(StoreError) {
        let previous = store.keybag.device
        // The record may be ahead of the counter by one change only.
        try store.mapKeybagErrors { () throws(KeybagError) in try previous.advanceCounter() }
        let (next, user) = try store.mapKeybagErrors { () throws(KeybagError) in
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
        store.keybag.install(next, user, unlocks: unlocks)
        // The change is durable. If the hardware does not count now, the next program that opens the
        // keychain makes it.
        try? next.advanceCounter()
        if let key { try store.mapKeybagErrors { () throws(KeybagError) in try store.keybag.openBiometry(with: key) } }
    }

    /// Runs the transaction that stores `next`. If it certainly failed, the hardware forgets the objects made for it.
    private func storing(
        _ next: DeviceKeybag, _ previous: DeviceKeybag, isDeletion: Bool,
        _ body: (Database) throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try store.write(isDeletion: isDeletion) { (database, _) throws(StoreError) in try body(database) }
        } catch {
            if case .keybag(.changedMeanwhile) = error { next.abandonHardware(keeping: previous) }
            if error.isFull { next.abandonHardware(keeping: previous) }
            throw error
        }
    }

    static func deleteRows(_ classes: [ProtectionClass], in database: Database) throws(StoreError) -> Int {
        let list = classes.map { "\($0.number)" }.joined(separator: ", ")
        try RowStatement("DELETE FROM quarantine WHERE protection IN (\(list))", in: database).run()
        return try RowStatement("DELETE FROM item WHERE protection IN (\(list))", in: database).run()
    }

    // MARK: Renewing an older keybag

    /// Wraps the keys under a more expensive derivation if the cost is below `floor`; returns nil
    /// if it is not.
    func raiseCost(_ passcode: Passcode, _ key: PasscodeKey, to floor: PasscodeCost) throws(StoreError)
        -> PasscodeKey?
    {
        let device = store.keybag.device
        guard let cost = device.passcodeCost, cost.isBelow(floor) else { return nil }
        let (raised, changed) = try store.mapKeybagErrors { () throws(KeybagError) in
            let parameters = PasscodeParameters.fresh(floor)
            let raised = try device.passcodeKey(passcode, parameters)
            return (
                raised,
                try device.changingPasscode(from: key, to: raised, parameters, rotates: false)
            )
        }
        try save(changed, raised)
        return raised
    }

    /// Creates the presence pairs of a keychain with a passcode that an older version has set.
    func addPresence(_ key: PasscodeKey) throws(StoreError) {
        let device = store.keybag.device
        let changed = try store.mapKeybagErrors { () throws(KeybagError) in try device.addingPresence(key) }
        if let changed { try save(changed, key) }
    }

    /// Stores the settings that were applied without the passcode.
    func storeAppliedSettings(_ key: PasscodeKey) throws(StoreError) {
        guard let settings = store.keybag.pendingSettings else { return }
        let device = store.keybag.device
        try save(
            try store.mapKeybagErrors { () throws(KeybagError) in try device.changingSettings(to: settings, key) }, key)
        store.keybag.apply(nil)
    }

    /// Returns all keys that the passcode unlocks, for one operation that has the passcode in its
    /// request, independently of the lock state.
    func keyringForAdministration(_ passcode: Passcode?) throws(StoreError) -> Keyring {
        try store.exclusively { () throws(StoreError) in
            let device = try store.refresh()
            guard device.hasPasscode else { return store.keybag.keyring }
            guard let passcode else { throw .keybag(.passcodeNeeded) }
            let key = try verify(passcode)
            let now = store.keybag.device
            return Keyring(now, try store.mapKeybagErrors { () throws(KeybagError) in try now.unlock(with: key) })
        }
    }

    /// Changes the keybag. Verifies the passcode if the keychain has one.
    func administer(
        _ passcode: Passcode?, _ change: (DeviceKeybag, PasscodeKey?) throws(KeybagError) -> StoredKeybag
    ) throws(StoreError) {
        try store.requireWritable()
        try store.exclusively { () throws(StoreError) in
            let key = try verifyIfSet(passcode)
            let device = store.keybag.device
            try save(try store.mapKeybagErrors { () throws(KeybagError) in try change(device, key) }, key)
            store.forgetOldKeys()
        }
    }
}
