// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LatchkeyOperations
package import LatchkeyService
package import LinuxSystem
package import SecretMemory
internal import Synchronization

/// The keychain that a daemon holds. The daemon determines the caller itself.
package final class DaemonService: KeychainService {
    let client: DaemonClient
    private let observers = Mutex<(next: Int, watches: [Int: LockStateObserver])>((0, [:]))
    private let changeObservers = Mutex<(next: Int, watches: [Int: ChangeObserver])>((0, [:]))

    private let claim: @Sendable () -> CallerIdentity
    private let automaticUnlock: AutomaticUnlock
    private let ownSession = Mutex<OwnSession?>(nil)

    /// - Parameters:
    ///   - claim: the identity that this program claims, for what the daemon cannot determine.
    ///   - automaticPasscode: the source of the passcode, called once when items are locked; nil if
    ///     there is no source.
    package init(
        _ connector: any DaemonConnector, claim: @escaping @Sendable () -> CallerIdentity,
        automaticPasscode: @escaping AutomaticUnlock.Source = { () throws(KeychainError) in nil }
    ) {
        client = DaemonClient(connector, claim: claim)
        self.claim = claim
        automaticUnlock = AutomaticUnlock(automaticPasscode)
    }

    // MARK: Items

    package func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        try perform(AddItem(item))
    }

    package func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        // The daemon would close the connection.
        try IdentityAddition.check(identities)
        return try perform(AddIdentities(identities)).count
    }

    package func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        try perform(CopyItems(query, returning: returning)).matches
    }

    package func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] {
        try perform(CopyIdentities(query, returning: returning)).identities
    }

    @discardableResult
    package func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        try perform(UpdateItems(query, with: update)).count
    }

    @discardableResult
    package func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        try perform(DeleteItems(query)).count
    }

    // MARK: Keys

    package func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError)
        -> GeneratedKey
    {
        try perform(GenerateKey(generation))
    }

    package func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    {
        try perform(ReadPublicKey(of: reference))
    }

    package func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try perform(UseKey(reference, use, on: input))
    }

    package func exportKey(_ reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> KeyOutput
    {
        try perform(ExportKey(reference))
    }

    // MARK: The keychain itself

    package func status() throws(KeychainError) -> KeychainStatus { try perform(ReadStatus()) }

    package func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        try perform(CheckKeychain(), progress: { done, _ in progress(done) }).findings
    }

    package func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        try perform(RepairKeychain(action, dryRun: dryRun), progress: { done, _ in progress(done) }).count
    }

    package func checkpoint() throws(KeychainError) { _ = try perform(CheckpointKeychain()) }

    package func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport {
        try perform(IdentifyCaller())
    }

    package func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError)
        -> UInt64
    {
        var last: UInt64 = 0
        try client.performInParts(ReadLog(after: sequence, since: since)) { part in
            last = part.lines.last
            return body(part.lines.lines)
        }
        return last
    }

    package func verifyAudit() throws(KeychainError) -> AuditVerification { try perform(VerifyLog()) }

    package func close() {
        let watches = observers.withLock { observers in
            defer { observers.watches = [:] }
            return Array(observers.watches.values)
        }
        for watch in watches { watch.end() }
        let changeWatches = changeObservers.withLock { observers in
            defer { observers.watches = [:] }
            return Array(observers.watches.values)
        }
        for watch in changeWatches { watch.end(isTold: true) }
        ownSession.withLock { $0 = nil }
        client.close()
    }

    // MARK: The lock

    package func lockStatus() throws(KeychainError) -> LockStatus { try perform(ReadLockStatus()) }

    package func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        _ = try perform(UnlockKeychain(passcode), progress: progress)
    }

    package func lock(immediately: Bool) throws(KeychainError) {
        _ = try perform(LockKeychain(immediately: immediately))
    }

    package func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        let watch = LockStateObserver(client, body)
        let number = observers.withLock { observers in
            observers.next += 1
            observers.watches[observers.next] = watch
            return observers.next
        }
        watch.begin()
        return number
    }

    package func removeLockObserver(_ number: Int) {
        observers.withLock { $0.watches.removeValue(forKey: number) }?.end()
    }

    package func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        let observer = ChangeObserver(client, body)
        try observer.begin()
        return changeObservers.withLock { observers in
            observers.next += 1
            observers.watches[observers.next] = observer
            return observers.next
        }
    }

    package func removeChangeObserver(_ number: Int) {
        changeObservers.withLock { $0.watches.removeValue(forKey: number) }?.end(isTold: false)
    }

    // MARK: Administration

    package func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        _ = try perform(SetPasscode(new), progress: progress)
    }

    package func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) {
        _ = try perform(ChangePasscode(from: old, to: new, rotates: rotates), progress: progress)
    }

    package func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        try perform(RemovePasscode(passcode), progress: progress).count
    }

    package func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        try perform(CreateRecoveryKey(passcode)).text
    }

    package func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        try perform(RemoveRecoveryKey(passcode)).count > 0
    }

    package func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        _ = try perform(ChangeSettings(settings, passcode))
    }

    /// Opens the keychain with its recovery key, and sets a new passcode.
    package func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        try perform(RecoverKeychain(with: key, newPasscode: newPasscode)).count
    }

    package func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool,
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        let backup = BackUpKeychain(
            under: passphrase, passcode: passcode, includesNonExtractable: includesNonExtractable)
        return try perform(backup, progress: progress) { (content) throws(KeychainError) in
            guard let piece = content as? BackupPiece else { throw .unexpectedResponse }
            try piece.write(to: sink)
        }
    }

    package func recordBackup() {
        // This is information for `latchkey doctor`; the backup is complete even if this fails.
        _ = try? perform(RecordBackup())
    }

    package func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        // The daemon decides whether attested groups are restored.
        let restore = RestoreKeychain(under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun)
        var isComplete = false
        return try client.converse(restore, progress: progress) { (connection) throws(KeychainError) in
            guard !isComplete else { throw .unexpectedResponse }
            let piece = try SendPiece(from: source)
            isComplete = piece.bytes.isEmpty
            try connection.send(NumberedRequest(number: client.nextNumber(), piece))
        }.answer
    }

    // MARK: Sessions

    /// Makes the daemon open the keychain for the processes that hold the other end of `control`.
    ///
    /// - Returns: an object that keeps the session open as long as it is referenced.
    package func openSession(
        _ passcode: SharedSecret?, control: Socket, progress: ChangeProgress = { _, _ in }
    ) throws(KeychainError) -> any Sendable {
        try client.converse(OpenSession(passcode), progress: progress) { (connection) throws(KeychainError) in
            do throws(SystemError) { try connection.send(descriptor: control.descriptor) } catch {
                throw KeychainError(error)
            }
        }.connection
    }

    /// A session that this process has opened for itself.
    private struct OwnSession: Sendable {
        let client: DaemonClient
        let hold: any Sendable
    }

    /// Performs an operation. If it is on items, which are locked, and this process has the
    /// passcode, it is repeated in a separate session of this process. The daemon's keychain stays
    /// locked for all other programs.
    private func perform<Operation: KeychainOperation>(
        _ operation: Operation, progress: ChangeProgress = { _, _ in },
        _ take: ((any ResponseContent) throws(KeychainError) -> Void)? = nil
    ) throws(KeychainError) -> Operation.Answer {
        guard Operation.traits.contains(.accessesItems) else {
            return try client.perform(operation, progress: progress, take)
        }
        if let own = ownSession.withLock({ $0 }) {
            do throws(KeychainError) {
                return try own.client.perform(operation)
            } catch {
                // The session has ended with its daemon, or was locked.
                guard [.notAvailable, .interactionNotAllowed].contains(error.status) else { throw error }
                ownSession.withLock { $0 = nil }
            }
        }
        do throws(KeychainError) {
            return try client.perform(operation)
        } catch {
            guard error.status == .interactionNotAllowed, try openOwnSession(), let own = ownSession.withLock({ $0 })
            else { throw error }
            return try own.client.perform(operation)
        }
    }

    private func openOwnSession() throws(KeychainError) -> Bool {
        try automaticUnlock.perform(isNeeded: { ownSession.withLock { $0 == nil } }) {
            (passcode) throws(KeychainError) in
            do throws(KeychainError) {
                let (ownEnd, peerEnd) = try Self.pair()
                let hold = try openSession(passcode, control: peerEnd)
                let fresh = OwnSession(
                    client: DaemonClient(SessionConnector(control: ownEnd), claim: claim), hold: hold)
                ownSession.withLock { $0 = fresh }
                return true
            } catch {
                if error.status == .authFailed { return false }
                throw error
            }
        }
    }

    private static func pair() throws(KeychainError) -> (Socket, Socket) {
        do throws(SystemError) { return try Socket.pair(preservesBoundaries: true) } catch {
            throw KeychainError(error)
        }
    }
}

extension BackupPiece {
    fileprivate func write(to sink: BackupSink) throws(KeychainError) {
        var problem: KeychainError?
        bytes.withUnsafeBytes { buffer in
            do throws(KeychainError) { try sink(buffer) } catch { problem = error }
        }
        if let problem { throw problem }
    }
}

extension SendPiece {
    /// The next piece of a backup: at most 256 KiB.
    fileprivate init(from source: BackupSource) throws(KeychainError) {
        var piece = [UInt8](repeating: 0, count: ResponsePart.maxLength)
        var outcome = Result<Int, KeychainError>.success(0)
        piece.withUnsafeMutableBytes { buffer in
            outcome = Result { () throws(KeychainError) in try source(buffer) }
        }
        self.init(Array(piece.prefix(try outcome.get())))
    }
}
