// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// How far a long change has come: rows done, and rows in all.
public typealias ChangeProgress = (_ done: Int, _ total: Int) -> Void

public typealias BackupSink = (UnsafeRawBufferPointer) throws(KeychainError) -> Void
public typealias BackupSource = (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int

/// The operations on the lock of a keychain and on what opens it. Where a passcode is set, whatever weakens or moves it names it in the same
/// request.
///
/// A passcode is judged at most once a request. Wrong ones answer errSecAuthFailed, and so do all while a delay is running; neither changes
/// anything.
public protocol KeychainAdministration: Sendable {
    func lockStatus() throws(KeychainError) -> LockStatus

    /// Opens what the passcode opens; does nothing where there is none.
    func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError)

    /// Closes what the lock closes.
    ///
    /// - Parameter immediately: without the grace of the settings.
    /// - Throws: errSecParam where no passcode is set.
    func lock(immediately: Bool) throws(KeychainError)

    /// Calls `body` with every new state, until it is removed by the number that is returned.
    func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int
    func removeLockObserver(_ number: Int)

    /// Sets a passcode where there is none, and seals every item that it protects under new keys. A recovery key ends.
    func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError)

    /// - Parameter rotates: also makes new keys and seals every item under them; a recovery key ends.
    func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError)

    /// Removes the passcode, and destroys every item of the class whenPasscodeSetThisDeviceOnly.
    ///
    /// - Returns: how many items were destroyed.
    func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int

    /// Makes a recovery key, in place of an earlier one.
    ///
    /// - Returns: its text, which is kept nowhere.
    func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret

    /// - Returns: false where there was none.
    func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool

    func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError)

    /// Writes every item that may leave the keychain, under a passphrase of the backup's own.
    ///
    /// - Parameters:
    ///   - passcode: the keychain's, where one is set.
    ///   - includesNonExtractable: whether keys that may not be extracted go into the backup without the passcode, too; otherwise they are
    ///     left out, and named in the report.
    ///   - sink: takes the bytes in order; what it throws ends the backup.
    func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool,
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport

    /// Notes that a backup lies where it will be found, for the doctor.
    func recordBackup()

    /// Reads a backup into the keychain: all of it, or nothing.
    ///
    /// - Parameters:
    ///   - merges: keeps what is here, the newer of two namesakes winning; otherwise everything that is here is deleted first.
    ///   - dryRun: changes nothing in the end.
    ///   - allowsAttestedGroups: whether items of attested groups are restored; otherwise they are refused, and counted in the report. Nothing but a
    ///     daemon may say so, for a caller whom it knows to be attested.
    ///   - source: fills as much of the buffer as there is; 0 at the end.
    func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport
}

extension KeychainAdministration {
    /// A backup without the keys that may not be extracted, unless the passcode is given.
    public func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, to sink: @escaping BackupSink, progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        try backup(under: passphrase, passcode: passcode, includesNonExtractable: false, to: sink, progress: progress)
    }

    /// Restores no attested group.
    public func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool,
        from source: @escaping BackupSource,
        progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        try restore(
            under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun, allowsAttestedGroups: false,
            from: source,
            progress: progress)
    }
}
