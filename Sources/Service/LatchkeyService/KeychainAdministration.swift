// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// Reports the progress of a long operation: the rows done, and all rows.
public typealias ChangeProgress = (_ done: Int, _ total: Int) -> Void

public typealias BackupSink = (UnsafeRawBufferPointer) throws(KeychainError) -> Void
public typealias BackupSource = (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int

/// The operations on the lock of a keychain and on the secrets that open it. If a passcode is set,
/// every request that weakens or changes this protection must contain the passcode.
///
/// A request checks a passcode at most once. A wrong passcode throws errSecAuthFailed, and so does
/// every passcode while a delay is running; neither changes anything.
public protocol KeychainAdministration: Sendable {
    func lockStatus() throws(KeychainError) -> LockStatus

    /// Unlocks the keychain with the passcode that the process was given, unless it was locked by a call. It
    /// is called before something is reported as locked. Without such a passcode, and with one that does not
    /// fit, which is logged, the keychain stays as it is.
    func unlockAutomatically()

    /// Unlocks the keychain with the passcode; has no effect on a keychain without a passcode.
    func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError)

    /// Locks the keychain.
    ///
    /// - Parameter immediately: skips the grace period of the settings.
    /// - Throws: errSecParam if no passcode is set.
    func lock(immediately: Bool) throws(KeychainError)

    /// Calls `body` with every new lock state, until the observer is removed. While the process that holds
    /// the keychain does not tell its state, because it has ended, that state is
    /// ``LockState/beforeFirstUnlock``: everything that the lock can close counts as closed.
    ///
    /// - Returns: the number to pass to ``removeLockObserver(_:)``.
    func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int
    func removeLockObserver(_ number: Int)

    /// Sets the first passcode, and reseals every item that it protects with new keys. An existing
    /// recovery key becomes invalid.
    func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError)

    /// Replaces the passcode.
    ///
    /// - Parameter rotates: also generates new keys and reseals every item with them; an existing
    ///   recovery key becomes invalid.
    func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError)

    /// Removes the passcode, and destroys every item of the class whenPasscodeSetThisDeviceOnly.
    ///
    /// - Returns: how many items were destroyed.
    func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int

    /// Creates a recovery key, which replaces an earlier one.
    ///
    /// - Returns: the text of the recovery key, which is not stored anywhere.
    func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret

    /// Removes the recovery key.
    ///
    /// - Returns: false if there was no recovery key.
    func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool

    func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError)

    /// Moves the device key to another root.
    ///
    /// - Parameter dryRun: only checks that it can be moved.
    /// - Returns: false if it is there already.
    /// - Throws: errSecNotAvailable if the root is not there; errSecParam for a keychain in memory.
    func moveRoot(to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool) throws(KeychainError) -> Bool

    /// Writes every item that may leave the keychain, encrypted under the backup's own passphrase.
    ///
    /// - Parameters:
    ///   - passcode: the passcode of the keychain, if one is set.
    ///   - contents: what it contains in addition. Non-extractable keys are omitted, and listed in the
    ///     report, unless this or the passcode includes them.
    ///   - sink: receives the bytes in order; an error that it throws ends the backup.
    func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents,
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport

    /// Records that a backup was completed, for `latchkey doctor`.
    func recordBackup()

    /// Restores a backup into the keychain: all of it, or nothing.
    ///
    /// - Parameters:
    ///   - merges: keeps existing items, and of two items with the same primary key the newer one;
    ///     otherwise all existing items are deleted first.
    ///   - dryRun: rolls everything back at the end.
    ///   - allowsAttestedGroups: whether items of attested groups are restored; otherwise they are
    ///     refused, and counted in the report. Only a daemon may pass true, and only for an
    ///     attested caller.
    ///   - source: fills the buffer with the next bytes and returns their count; 0 at the end.
    func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport
}

extension KeychainAdministration {
    /// Writes a backup that contains non-extractable keys only if the passcode is given.
    public func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, to sink: @escaping BackupSink, progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        try backup(under: passphrase, passcode: passcode, including: [], to: sink, progress: progress)
    }

    /// Restores a backup without the items of attested groups.
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
