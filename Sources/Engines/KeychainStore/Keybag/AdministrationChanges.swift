// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel

/// The recovery key and the settings. The passcode confirms their changes.
public struct AdministrationChanges {
    let store: KeychainStore
    private var changes: KeybagChanges { KeybagChanges(store: store) }

    /// Creates a recovery key. It replaces an earlier one.
    public func createRecoveryKey(_ passcode: Passcode?) throws(StoreError) -> RecoveryKey {
        let recovery = RecoveryKey.random()
        try changes.administer(passcode) { (device, key) throws(KeybagError) in
            try device.addingRecoveryKey(recovery, key)
        }
        return recovery
    }

    /// Removes the recovery key.
    ///
    /// - Returns: false if there was none.
    public func removeRecoveryKey(_ passcode: Passcode?) throws(StoreError) -> Bool {
        guard try store.refresh().hasRecoveryKey else { return false }
        try changes.administer(passcode) { (device, key) throws(KeybagError) in try device.removingRecoveryKey(key) }
        return true
    }

    public func changeSettings(to settings: KeybagSettings, _ passcode: Passcode?) throws(StoreError) {
        try changes.administer(passcode) { (device, key) throws(KeybagError) in
            try device.changingSettings(to: settings, key)
        }
        store.keybag.apply(nil)
    }

    /// Applies settings to an unlocked keychain without its passcode. The next unlock stores them.
    ///
    /// - Throws: ``KeybagError/passcodeNeeded`` if it is locked.
    public func applySettings(_ settings: KeybagSettings) throws(StoreError) {
        try store.requireWritable()
        guard try store.refresh().hasPasscode, store.lockState == .unlocked else { throw .keybag(.passcodeNeeded) }
        store.keybag.apply(settings)
    }
}
