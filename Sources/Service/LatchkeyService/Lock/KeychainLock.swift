// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
public import SecretMemory

/// The lock of a keychain, the secrets that open it (the passcode, the recovery key), and its settings.
public struct KeychainLock: Sendable {
    let keychain: OpenKeychain
    let fileKeys: KeychainFileKeys
    let sweep: FileSweep

    public func status() throws(KeychainError) -> LockStatus {
        try keychain.run { () throws(StoreError) in
            let attempts = try keychain.store.passcodeAttempts()
            let began = attempts.elapsed.map { keychain.now() + Double(Clocks.secondsBetweenEpochs) - $0 }
            return LockStatus(
                state: keychain.store.lockState, hasPasscode: keychain.store.hasPasscode,
                hasRecoveryKey: keychain.store.hasRecoveryKey,
                settings: keychain.store.settings,
                open: Set(ProtectionClass.allCases.filter(keychain.store.isOpen)), graceLeft: keychain.store.graceLeft,
                wrongPasscodes: attempts.count,
                delay: attempts.delay, delayBegan: attempts.delay > 0 ? began : nil)
        }
    }

    public func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        let passcode = try Passcode.of(passcode)
        try keychain.run { () throws(StoreError) in
            try keychain.store.unlock(passcode, floor: keychain.passcodeCost, progress: progress)
        }
        // Who knows the passcode may use biometry again after too many misses.
        keychain.presence.biometry?.passcodeWasVerified(of: keychain.user)
        fileKeys.renew()
    }

    public func lock(immediately: Bool) throws(KeychainError) {
        try keychain.run { () throws(StoreError) in
            // Lock first, so that the open keys are dropped even if the rest fails.
            keychain.store.lock(immediately: immediately)
            guard try keychain.store.refresh().hasPasscode else { throw .keybag(.noPasscode) }
        }
    }

    public func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        let new = try Passcode.of(new)
        try keychain.run { () throws(StoreError) in
            try keychain.store.passcode.set(
                new, minLength: minPasscodeLength, cost: keychain.passcodeCost, progress: progress)
        }
        fileKeys.renew()
    }

    /// Scripts create keychains of their own with any password, as on macOS.
    private var minPasscodeLength: Int { keychain.home.map { $0.name != .login } == true ? 1 : Passcode.minLength }

    public func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) {
        let (old, new) = (try Passcode.of(old), try Passcode.of(new))
        try keychain.run { () throws(StoreError) in
            try keychain.store.passcode.change(
                from: old, to: new, rotates: rotates, minLength: minPasscodeLength, cost: keychain.passcodeCost,
                progress: progress)
        }
        fileKeys.renew()
    }

    public func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        let passcode = try Passcode.of(passcode)
        return try sweep.removingFiles { () throws(KeychainError) in
            try keychain.run { () throws(StoreError) in
                try keychain.store.passcode.remove(passcode, progress: progress)
            }
        }
    }

    public func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        let passcode = try Passcode.of(passcode)
        return try keychain.run { () throws(StoreError) in
            try keychain.store.administration.createRecoveryKey(passcode).text
        }
    }

    public func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        let passcode = try Passcode.of(passcode)
        return try keychain.run { () throws(StoreError) in
            try keychain.store.administration.removeRecoveryKey(passcode)
        }
    }

    public func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        let passcode = try Passcode.of(passcode)
        try keychain.run { () throws(StoreError) in
            // Scripts set when a keychain of their own locks itself, while it is unlocked, as on macOS.
            guard passcode == nil, keychain.home.map({ $0.name != .login }) == true,
                try keychain.store.refresh().hasPasscode,
                settings.differsOnlyInLocking(from: keychain.store.settings)
            else {
                return try keychain.store.administration.changeSettings(to: settings, passcode)
            }
            try keychain.store.administration.applySettings(settings)
        }
    }
}

extension KeybagSettings {
    /// Whether only the settings for automatic locking are different.
    fileprivate func differsOnlyInLocking(from other: KeybagSettings) -> Bool {
        var same = self
        (same.lockInterval, same.locksOnSleep) = (other.lockInterval, other.locksOnSleep)
        return same == other
    }
}
