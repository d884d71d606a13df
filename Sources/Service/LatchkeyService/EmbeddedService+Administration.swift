// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
public import SecretMemory

extension EmbeddedService {
    public func lockStatus() throws(KeychainError) -> LockStatus {
        try run { () throws(StoreError) in
            let attempts = try store.passcodeAttempts()
            let began = attempts.elapsed.map { clock() + Double(Clocks.secondsBetweenEpochs) - $0 }
            return LockStatus(
                state: store.lockState, hasPasscode: store.hasPasscode, hasRecoveryKey: store.hasRecoveryKey,
                settings: store.settings,
                open: Set(ProtectionClass.allCases.filter(store.isOpen)), graceLeft: store.graceLeft,
                wrongPasscodes: attempts.count,
                delay: attempts.delay, delayBegan: attempts.delay > 0 ? began : nil)
        }
    }

    public func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        let passcode = try Self.passcode(passcode)
        try run { () throws(StoreError) in try store.unlock(passcode, floor: passcodeCost, progress: progress) }
        // Who knows the passcode may use biometry again after too many misses.
        presence.biometry?.passcodeWasVerified(of: user)
        renewFileKeys()
    }

    public func lock(immediately: Bool) throws(KeychainError) {
        try run { () throws(StoreError) in
            // Lock first, so that the open keys are dropped even if the rest fails.
            store.lock(immediately: immediately)
            guard try store.refresh().hasPasscode else { throw .keybag(.noPasscode) }
        }
    }

    /// Calls `body` with every new lock state, until the observer is removed.
    public func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { store.addLockObserver(body) }
    public func removeLockObserver(_ number: Int) { store.removeLockObserver(number) }

    /// Calls `body` after every change of the items, the passcode or the settings that any process makes
    /// after this call returns.
    public func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        do throws(StoreError) { return try store.addChangeObserver(body) } catch { throw KeychainError(error) }
    }
    public func removeChangeObserver(_ number: Int) { store.removeChangeObserver(number) }

    public func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        let new = try Self.passcode(new)
        try run { () throws(StoreError) in
            try store.setPasscode(new, minLength: minPasscodeLength, cost: passcodeCost, progress: progress)
        }
        renewFileKeys()
    }

    /// Scripts create keychains of their own with any password, as on macOS.
    private var minPasscodeLength: Int { home.map { $0.name != .login } == true ? 1 : Passcode.minLength }

    public func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) {
        let (old, new) = (try Self.passcode(old), try Self.passcode(new))
        try run { () throws(StoreError) in
            try store.changePasscode(
                from: old, to: new, rotates: rotates, minLength: minPasscodeLength, cost: passcodeCost,
                progress: progress)
        }
        renewFileKeys()
    }

    public func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        let passcode = try Self.passcode(passcode)
        return try removingFiles { () throws(KeychainError) in
            try run { () throws(StoreError) in try store.removePasscode(passcode, progress: progress) }
        }
    }

    public func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        let passcode = try Self.passcode(passcode)
        return try run { () throws(StoreError) in try store.createRecoveryKey(passcode).text }
    }

    public func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        let passcode = try Self.passcode(passcode)
        return try run { () throws(StoreError) in try store.removeRecoveryKey(passcode) }
    }

    public func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        let passcode = try Self.passcode(passcode)
        try run { () throws(StoreError) in
            // Scripts set when a keychain of their own locks itself, while it is unlocked, as on macOS.
            guard passcode == nil, home.map({ $0.name != .login }) == true, try store.refresh().hasPasscode,
                settings.differsOnlyInLocking(from: store.settings)
            else {
                return try store.changeSettings(to: settings, passcode)
            }
            try store.applySettings(settings)
        }
    }

    public func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents = [],
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        let (passphrase, passcode) = (try Self.passcode(passphrase), try Self.passcode(passcode))
        do {
            try passphrase.requireNew()
        } catch {
            throw KeychainError(error)
        }
        let files = contents.contains(.files) ? try backedUpFiles() : nil
        return try whileFilesStay(contents) { () throws(StoreError) in
            try store.backup(
                under: passphrase, passcode: passcode, including: contents, files: files,
                cost: passcodeCost, now: clock(),
                to: { (bytes) throws(StoreError) in
                    do throws(KeychainError) { try sink(bytes) } catch { throw .refused(error) }
                }, progress: progress)
        }
    }

    public func recordBackup() {
        if let home { LastBackupFile.set(in: home, secondsSince1970: Int(clock()) + Clocks.secondsBetweenEpochs) }
    }

    public func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool,
        allowsAttestedGroups: Bool = false,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        let (passphrase, passcode) = (try Self.passcode(passphrase), try Self.passcode(passcode))
        return try restoringFiles(dryRun: dryRun) { (files) throws(StoreError) in
            try store.restore(
                under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun, files: files,
                // A class key that a backup names like a future one of this keychain would be used for files.
                keeps: { [keychain = store.keychainIdentifier] in FileClassKeyName.isOwn($0, keychain) },
                refusal: { [allowsAlwaysOpen] record in
                    ItemRules.refusal(
                        ofRestored: record, allowsAttestedGroups: allowsAttestedGroups,
                        allowsAlwaysOpen: allowsAlwaysOpen)
                },
                from: { (buffer) throws(StoreError) in
                    do throws(KeychainError) { return try source(buffer) } catch { throw .refused(error) }
                }, progress: progress)
        }
    }

    static func passcode(_ rawPasscode: SharedSecret) throws(KeychainError) -> Passcode {
        do {
            return try Passcode(rawPasscode)
        } catch {
            throw KeychainError(error)
        }
    }

    private static func passcode(_ rawPasscode: SharedSecret?) throws(KeychainError) -> Passcode? {
        guard let rawPasscode else { return nil }
        return try passcode(rawPasscode) as Passcode
    }
}

extension KeybagSettings {
    /// Whether only what locks the keychain by itself is different.
    fileprivate func differsOnlyInLocking(from other: KeybagSettings) -> Bool {
        var same = self
        (same.lockInterval, same.locksOnSleep) = (other.lockInterval, other.locksOnSleep)
        return same == other
    }
}
