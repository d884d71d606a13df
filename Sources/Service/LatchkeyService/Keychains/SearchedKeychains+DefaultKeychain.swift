// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// What is about a keychain as a whole is about the default one.
extension SearchedKeychains {
    public func status() throws(KeychainError) -> KeychainStatus { try primary.status() }

    public func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        try primary.check(progress: progress)
    }

    public func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        try primary.repair(action, dryRun: dryRun, progress: progress)
    }

    public func checkpoint() throws(KeychainError) { try primary.checkpoint() }

    public func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport {
        try primary.callerReport(caller)
    }

    public func auditLines(
        after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool
    ) throws(KeychainError) -> UInt64 {
        try primary.auditLines(after: sequence, since: since, body)
    }

    public func verifyAudit() throws(KeychainError) -> AuditVerification { try primary.verifyAudit() }

    public func lockStatus() throws(KeychainError) -> LockStatus { try primary.lockStatus() }

    public func unlockAutomatically() { try? primary.unlockAutomatically() }

    public func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try primary.unlock(passcode, progress: progress)
    }

    public func lock(immediately: Bool) throws(KeychainError) { try primary.lock(immediately: immediately) }

    public func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try primary.setPasscode(new, progress: progress)
    }

    public func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) {
        try primary.changePasscode(from: old, to: new, rotates: rotates, progress: progress)
    }

    public func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        try primary.removePasscode(passcode, progress: progress)
    }

    public func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        try primary.createRecoveryKey(passcode)
    }

    public func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        try primary.removeRecoveryKey(passcode)
    }

    public func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        try primary.changeSettings(to: settings, passcode)
    }

    public func moveRoot(
        to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool
    ) throws(KeychainError) -> Bool {
        try primary.moveRoot(to: target, passcode, dryRun: dryRun)
    }

    public func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents,
        to sink: @escaping BackupSink, progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        try primary.backup(under: passphrase, passcode: passcode, including: contents, to: sink, progress: progress)
    }

    public func recordBackup() { try? primary.recordBackup() }

    public func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        try primary.restore(
            under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun,
            allowsAttestedGroups: allowsAttestedGroups, from: source, progress: progress)
    }

    /// The members stay open; the caller that opened them closes them.
    public func close() {}
}
