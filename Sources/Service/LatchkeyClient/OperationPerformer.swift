// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
package import LatchkeyService
package import SecretMemory

/// A service that performs each of its calls as one operation, elsewhere.
package protocol OperationPerformer: KeychainService {
    /// Performs an operation, and returns its answer.
    ///
    /// - Parameters:
    ///   - caller: nil for an operation on the whole keychain.
    ///   - progress: called with the progress of a long operation.
    ///   - take: takes a content that precedes the answer; nil if there is none.
    func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity?, progress: ChangeProgress,
        _ take: ((any ResponseContent) throws(KeychainError) -> Void)?
    ) throws(KeychainError) -> Operation.Answer
}

extension OperationPerformer {
    private func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity? = nil, progress: ChangeProgress = { _, _ in }
    ) throws(KeychainError) -> Operation.Answer {
        try perform(operation, from: caller, progress: progress, nil)
    }

    // MARK: Items

    package func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        try perform(AddItem(item), from: caller)
    }

    package func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        // The daemon would close the connection.
        try IdentityAddition.check(identities)
        return try perform(AddIdentities(identities), from: caller).count
    }

    package func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        try perform(CopyItems(query, returning: returning), from: caller).matches
    }

    package func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] {
        try perform(CopyIdentities(query, returning: returning), from: caller).identities
    }

    @discardableResult
    package func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        try perform(UpdateItems(query, with: update), from: caller).count
    }

    @discardableResult
    package func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        try perform(DeleteItems(query), from: caller).count
    }

    // MARK: Keys

    package func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError)
        -> GeneratedKey
    {
        try perform(GenerateKey(generation), from: caller)
    }

    package func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    {
        try perform(ReadPublicKey(of: reference), from: caller)
    }

    package func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, authentication: Authentication,
        from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try perform(UseKey(reference, use, on: input, authentication: authentication), from: caller)
    }

    package func exportKey(
        _ reference: PersistentReference, authentication: Authentication, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try perform(ExportKey(reference, authentication: authentication), from: caller)
    }

    // MARK: Files

    package func createFileKey(
        _ protection: FileProtectionClass, group: String?, withholdsKey: Bool, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKey {
        try perform(CreateFileKey(protection, group: group, withholdsKey: withholdsKey), from: caller)
    }

    package func openFileKey(_ record: FileKeyRecord, from caller: CallerIdentity) throws(KeychainError) -> SharedSecret
    {
        guard let key = try perform(OpenFileKey(record), from: caller).key else { throw .unexpectedResponse }
        return key
    }

    package func rewrapFileKey(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKeyRecord {
        try perform(RewrapFileKey(record, for: protection, group: group), from: caller).record
    }

    package func useFileKey(_ request: FilePartRequest, from caller: CallerIdentity) throws(KeychainError) -> FilePart {
        try perform(UseFileKey(request), from: caller)
    }

    package func readStoredFile(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?, from caller: CallerIdentity
    ) throws(KeychainError) -> StoredFilePart {
        try perform(ReadStoredFile(query, at: offset, count: count, version: version), from: caller)
    }

    // MARK: Authentication

    package func createContext(from caller: CallerIdentity) throws(KeychainError) -> AuthenticationContextID {
        try perform(CreateContext(), from: caller).id
    }

    package func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) {
        _ = try perform(Authenticate(for: target, in: context, prompt: prompt), from: caller)
    }

    package func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        _ = try perform(SetApplicationPassword(password, in: context), from: caller)
    }

    package func hasApplicationPassword(
        in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) -> Bool {
        try perform(HasApplicationPassword(in: context), from: caller).count > 0
    }

    package func endContext(_ context: AuthenticationContextID, from caller: CallerIdentity) {
        // A context that cannot be ended now ends with the connection.
        _ = try? perform(EndContext(context), from: caller)
    }

    package func presenceStatus(at place: PromptPlace, from caller: CallerIdentity) throws(KeychainError)
        -> PresenceStatus
    {
        try perform(ReadPresence(at: place), from: caller)
    }

    // MARK: Security keys

    package func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) -> SecurityKeyInfo {
        try perform(EnrollSecurityKey(enrollment, passcode: passcode, prompt: prompt), from: caller)
    }

    package func securityKeys() throws(KeychainError) -> [SecurityKeyInfo] { try perform(ListSecurityKeys()).keys }

    package func removeSecurityKey(
        _ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool, dryRun: Bool
    ) throws(KeychainError) -> Int {
        try perform(RemoveSecurityKey(key, passcode: passcode, deletesItems: deletesItems, dryRun: dryRun)).count
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
        try perform(IdentifyCaller(), from: caller)
    }

    package func verifyAudit() throws(KeychainError) -> AuditVerification { try perform(VerifyLog()) }

    // MARK: The lock

    package func lockStatus() throws(KeychainError) -> LockStatus { try perform(ReadLockStatus()) }

    /// The other end does so before it answers.
    package func unlockAutomatically() {}

    package func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        _ = try perform(UnlockKeychain(passcode), progress: progress)
    }

    package func lock(immediately: Bool) throws(KeychainError) {
        _ = try perform(LockKeychain(immediately: immediately))
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

    package func moveRoot(
        to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool
    ) throws(KeychainError) -> Bool {
        try perform(MoveRoot(to: target, passcode, dryRun: dryRun)).count > 0
    }

    /// Seals the device key to the present values of the PCRs.
    package func resealRoot(with code: SharedSecret) throws(KeychainError) {
        _ = try perform(ResealRoot(with: code))
    }

    /// Opens the keychain with its recovery key, and sets a new passcode.
    package func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        try perform(RecoverKeychain(with: key, newPasscode: newPasscode)).count
    }

    package func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents,
        to sink: @escaping BackupSink, progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        let backup = BackUpKeychain(
            under: passphrase, passcode: passcode, including: contents)
        return try perform(backup, from: nil, progress: progress) { (content) throws(KeychainError) in
            guard let piece = content as? BackupPiece else { throw .unexpectedResponse }
            try piece.write(to: sink)
        }
    }

    package func recordBackup() {
        // This is information for `latchkey doctor`; the backup is complete even if this fails.
        _ = try? perform(RecordBackup())
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
