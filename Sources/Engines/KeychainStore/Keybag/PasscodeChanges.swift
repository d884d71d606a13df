// SPDX-License-Identifier: Apache-2.0

public import Keybag
internal import KeychainModel

/// The passcode of a keychain: setting, changing and removing it.
public struct PasscodeChanges {
    let store: KeychainStore
    private var changes: KeybagChanges { KeybagChanges(store: store) }

    /// Sets a passcode on a keychain that has none, and reseals every row that it
    /// protects.
    ///
    /// - Parameter minLength: of the new passcode, in characters.
    /// - Throws: ``KeybagError/passcodeExists`` if a passcode is set.
    public func set(
        _ new: Passcode, minLength: Int = Passcode.minLength, cost: PasscodeCost = .floor,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) {
        try store.requireWritable()
        try store.exclusively { () throws(StoreError) in
            let device = try store.refresh()
            guard !device.hasPasscode else { throw .keybag(.passcodeExists) }
            let key = try store.mapKeybagErrors { () throws(KeybagError) in
                try new.requireNew(minLength: minLength)
                let parameters = PasscodeParameters.fresh(cost)
                let key = try device.passcodeKey(new, parameters)
                return (key, try device.settingPasscode(key, parameters))
            }
            try store.mapKeybagErrors { () throws(KeybagError) in try store.attempts.clear() }
            try changes.save(key.1, key.0, unlocks: true)
            try changes.reseal(key.0, progress)
        }
    }

    /// Changes the passcode.
    ///
    /// - Parameters:
    ///   - rotates: also generates new class keys and reseals every row.
    ///   - minLength: of the new passcode, in characters.
    public func change(
        from old: Passcode, to new: Passcode, rotates: Bool, minLength: Int = Passcode.minLength,
        cost: PasscodeCost = .floor,
        progress: ResealProgress = { _, _ in }
    ) throws(StoreError) {
        try store.requireWritable()
        try store.exclusively { () throws(StoreError) in
            try store.mapKeybagErrors { () throws(KeybagError) in try new.requireNew(minLength: minLength) }
            let previous = try changes.verify(old)
            try changes.reseal(previous, progress)
            let device = store.keybag.device
            let (key, changed) = try store.mapKeybagErrors { () throws(KeybagError) in
                let parameters = PasscodeParameters.fresh(cost)
                let key = try device.passcodeKey(new, parameters)
                return (
                    key,
                    try device.changingPasscode(from: previous, to: key, parameters, rotates: rotates)
                )
            }
            try changes.save(changed, key)
            try changes.reseal(key, progress)
            store.forgetOldKeys()
        }
    }

    /// Removes the passcode, and every item that then cannot be opened any more: items of the class that requires a
    /// passcode, and items with constraints that only the passcode or biometry satisfies (keychain-behaviour, T192).
    /// Items that an application password or a security key opens stay.
    ///
    /// - Returns: the number of deleted items.
    public func remove(_ passcode: Passcode, progress: ResealProgress = { _, _ in }) throws(StoreError) -> Int {
        try store.requireWritable()
        return try store.exclusively { () throws(StoreError) in
            let key = try changes.verify(passcode)
            try changes.reseal(key, progress)
            let device = store.keybag.device
            let changed = try store.mapKeybagErrors { () throws(KeybagError) in
                try device.removingPasscode(key)
            }
            var count = 0
            try changes.save(changed, nil) { (database) throws(StoreError) in
                count = try ConstrainedRows.delete(in: database) { !device.canSatisfyWithoutPasscode($0) }
                count += try KeybagChanges.deleteRows([.whenPasscodeSetThisDeviceOnly], in: database)
            }
            try changes.removeRetired(nil)
            store.forgetOldKeys()
            return count
        }
    }

    /// The number of items that ``remove(_:progress:)`` would delete.
    public var itemsRequiringIt: Int {
        get throws(StoreError) {
            try store.read { (database, _) throws(StoreError) in
                let device = store.keybag.device
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
}
