// SPDX-License-Identifier: Apache-2.0

public import Keybag
internal import KeychainModel
internal import SQLiteConnections

extension KeychainStore {
    /// The number of items that a recovery with the present recovery key would delete because of
    /// their constraints, although it keeps their class; 0 without a recovery key. A recovery key
    /// that is older than the presence pairs does not open them: create a new one.
    public var recoveryLosesConstrainedItems: Int {
        get throws(StoreError) {
            try read { (database, _) throws(StoreError) in
                let device = keybag.device
                guard device.hasRecoveryKey else { return 0 }
                return try ConstrainedRows.count(in: database, except: device.classesLostAtRecovery) {
                    !device.canSatisfyAfterRecovery($0)
                }
            }
        }
    }

    /// Reads the keybag of a keychain that may not open.
    ///
    /// - Parameter inspects: changes no file. This process must not have the keychain open for writing.
    package static func storedKeybag(path: String, inspects: Bool) throws(StoreError) -> StoredKeybag {
        try prepareFile(path, mayCreate: false)
        let connections =
            inspects
            ? ConnectionPool(ReadOnlyDatabase(path: path, isInspected: true))
            : ConnectionPool(path: path)
        defer { connections.close() }
        return try connections.read { (database) throws(StoreError) in
            try DatabaseSchema.verify(database)
            return try KeybagStorage.load(from: database)
        }
    }

    /// Sets a new passcode for the keychain at `path` with its recovery key. Rows of classes with lost keys are
    /// removed.
    ///
    /// - Parameters:
    ///   - newPasscode: nil only counts the rows.
    ///   - deviceKey: returns the device key with this root, or a new one if it is lost; called with true if it must
    ///     not create one.
    /// - Returns: the number of lost rows.
    public static func recover(
        path: String, with recovery: RecoveryKey, newPasscode: Passcode?, cost: PasscodeCost,
        attempts: PasscodeAttempts,
        deviceKey: (_ dryRun: Bool, _ root: DeviceKey.Root?) throws(KeybagError) -> DeviceKey
    ) throws(StoreError) -> Int {
        try attempts.exclusively(onSystemError: StoreError.keybag) { () throws(StoreError) in
            try prepareFile(path, mayCreate: false)
            let connections = ConnectionPool(path: path)
            defer { connections.close() }
            let stored = try connections.read { (database) throws(StoreError) in
                try DatabaseSchema.verify(database)
                return try (KeybagStorage.load(from: database), KeybagStorage.generation(in: database))
            }
            let recovered: DeviceKeybag.RecoveryResult
            do throws(KeybagError) {
                let parameters = PasscodeParameters.fresh(cost)
                // Check the recovery key before a slow derivation and before anything is created.
                try DeviceKeybag.checkRecoveryKey(recovery, of: stored.0)
                var key = PasscodeKey.none
                if let newPasscode { key = try .derive(newPasscode, parameters) }
                let device = try deviceKey(newPasscode == nil, stored.0.root)
                if newPasscode != nil { key = try DeviceKeybag.recoveryKey(key, for: stored.0, device) }
                recovered = try DeviceKeybag.recovering(
                    stored.0, with: recovery, deviceKey: device, passcode: key, parameters,
                    dryRun: newPasscode == nil)
            } catch {
                throw .keybag(error)
            }
            let list = recovered.lost.map { "\($0.number)" }.sorted().joined(separator: ", ")
            if newPasscode == nil {
                return try connections.read { (database) throws(StoreError) in
                    let statement = try RowStatement(
                        "SELECT count(*) FROM item WHERE protection IN (\(list)) AND tombstone = 0", in: database)
                    let count = try statement.step() ? Int(statement.integer(0)) : 0
                    return count
                        + (try ConstrainedRows.count(in: database, except: recovered.lost) { !recovered.canSatisfy($0) })
                }
            }
            // Remove the count of wrong passcodes first: under a new device key it would look
            // damaged.
            do throws(KeybagError) {
                try attempts.clear()
            } catch {
                throw .keybag(error)
            }
            let count = try connections.write { (database) throws(StoreError) in
                try KeybagStorage.replace(
                    stored.1, by: recovered.stored, generation: recovered.generation, in: database)
                let table = AuditTable(
                    deviceKey: recovered.deviceKey, keychain: recovered.keychain, counter: recovered.counter)
                if recovered.isNewDevice {
                    try table.restart(in: database)
                } else if recovered.counter != recovered.previousCounter {
                    try AuditTable(
                        deviceKey: recovered.deviceKey, keychain: recovered.keychain,
                        counter: recovered.previousCounter
                    ).rebind(to: table, in: database)
                }
                try RowStatement("DELETE FROM quarantine WHERE protection IN (\(list))", in: database).run()
                return try RowStatement("DELETE FROM item WHERE protection IN (\(list))", in: database).run()
                    + ConstrainedRows.delete(in: database) { !recovered.canSatisfy($0) }
            }
            // As in `store`: otherwise the next program that opens the keychain makes it count.
            try? DeviceKeybag(opening: recovered.stored, deviceKey: recovered.deviceKey).advanceCounter()
            ChangeNotifier(path: path).announce()
            try? truncateLog(of: connections)  // The recovery is durable; the next close empties the log.
            return count
        }
    }
}
