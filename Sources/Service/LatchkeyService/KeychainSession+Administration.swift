// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

extension KeychainSession: KeychainAdministration {
    public func lockStatus() throws(KeychainError) -> LockStatus { try service.lockStatus() }

    public func unlockAutomatically() { service.unlockAutomatically() }

    /// Returns the state of the lock after ``unlockAutomatically()``: what it calls locked cannot be read.
    public func settledLockStatus() throws(KeychainError) -> LockStatus {
        unlockAutomatically()
        return try lockStatus()
    }

    public func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try service.unlock(passcode, progress: progress)
    }

    public func lock(immediately: Bool) throws(KeychainError) { try service.lock(immediately: immediately) }

    public func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        service.addLockObserver(body)
    }

    public func removeLockObserver(_ number: Int) { service.removeLockObserver(number) }

    public func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try service.setPasscode(new, progress: progress)
    }

    public func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) {
        try service.changePasscode(from: old, to: new, rotates: rotates, progress: progress)
    }

    public func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        try service.removePasscode(passcode, progress: progress)
    }

    public func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        try service.createRecoveryKey(passcode)
    }

    public func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        try service.removeRecoveryKey(passcode)
    }

    public func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        try service.changeSettings(to: settings, passcode)
    }

    public func moveRoot(
        to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool
    ) throws(KeychainError) -> Bool {
        try service.moveRoot(to: target, passcode, dryRun: dryRun)
    }

    public func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents,
        to sink: @escaping BackupSink, progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        try service.backup(
            under: passphrase, passcode: passcode, including: contents, to: sink,
            progress: progress)
    }

    public func recordBackup() { service.recordBackup() }

    public func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        try service.restore(
            under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun,
            allowsAttestedGroups: allowsAttestedGroups, from: source, progress: progress)
    }
}
