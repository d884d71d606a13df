// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel

/// The recovery key, the settings, and other operations that have the passcode in their request.
extension KeychainStore {
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
        keybag.apply(nil)
    }

    /// Applies settings to an unlocked keychain without its passcode. The next unlock stores them.
    ///
    /// - Throws: ``KeybagError/passcodeNeeded`` if it is locked.
    public func applySettings(_ settings: KeybagSettings) throws(StoreError) {
        try requireWritable()
        guard try refresh().hasPasscode, lockState == .unlocked else { throw .keybag(.passcodeNeeded) }
        keybag.apply(settings)
    }

    /// Stores the settings that were applied without the passcode.
    func storeAppliedSettings(_ key: PasscodeKey) throws(StoreError) {
        guard let settings = keybag.pendingSettings else { return }
        let device = keybag.device
        try store(
            try mapKeybagErrors { () throws(KeybagError) in try device.changingSettings(to: settings, key) }, key)
        keybag.apply(nil)
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
}
