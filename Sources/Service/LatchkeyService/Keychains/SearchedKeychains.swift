// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// The keychains of a search list as one. Items are found in all of them, in the order of the list;
/// new items go to the default keychain, and what is about a whole keychain is about that one.
///
/// A search passes over a keychain that is locked or cannot be opened, and fails with that reason only
/// if no other keychain has an answer. A change of several items is all or nothing in each keychain.
public final class SearchedKeychains: Sendable {
    /// A keychain: opened, or why not.
    public typealias Member = Result<any KeychainService, KeychainError>

    private let members: [KeychainName: Member]
    private let search: [KeychainName]
    private let defaultKeychain: KeychainName
    private let answering = SystemMutex<Set<KeychainName>>([])

    /// - Parameters:
    ///   - members: the keychains that are named below, and the one that every user has: it has the keys
    ///     of protected files, because they outlive the keychain of a script.
    ///   - search: in the order of the search list.
    ///   - defaultKeychain: gets new items.
    public init(_ members: [KeychainName: Member], search: [KeychainName], defaultKeychain: KeychainName) {
        (self.members, self.search, self.defaultKeychain) = (members, search, defaultKeychain)
    }

    /// The keychains that have answered a call, or were changed by one.
    public var used: Set<KeychainName> { answering.withLock { $0 } }

    private func use(_ name: KeychainName) throws(KeychainError) -> any KeychainService {
        let keychain = try (members[name] ?? .failure(UserKeychains.missing(name))).get()
        answering.withLock { _ = $0.insert(name) }
        return keychain
    }

    private var primary: any KeychainService { get throws(KeychainError) { try use(defaultKeychain) } }
    private var files: any KeychainService { get throws(KeychainError) { try use(.login) } }

    /// Every keychain that is open.
    private var all: [any KeychainService] { members.values.compactMap { try? $0.get() } }

    /// A keychain that this process holds, for what only such a one can do.
    private func hosted(_ keychain: any KeychainService) throws(KeychainError) -> any HostedKeychain {
        guard let hosted = keychain as? any HostedKeychain else {
            throw KeychainError(.internalFailure, "the keychain is held by another process")
        }
        return hosted
    }

    // MARK: Searching

    /// Calls `body` with the keychains in their order, until it returns false.
    ///
    /// - Throws: if no keychain has answered: the first reason why one could not, or errSecItemNotFound.
    private func search(
        _ body: (any KeychainService) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        var problem: KeychainError?
        var hasAnswer = false
        for name in search {
            do throws(KeychainError) {
                let keychain = try (members[name] ?? .failure(UserKeychains.missing(name))).get()
                let wantsMore = try body(keychain)
                _ = try use(name)
                hasAnswer = true
                guard wantsMore else { return }
            } catch {
                guard error.status != .itemNotFound, error.status != .noSuchKeychain else { continue }
                if error.letsOthersAnswer {
                    problem = problem ?? error
                } else {
                    // The keychain has the item, and refuses it.
                    _ = try? use(name)
                    throw error
                }
            }
        }
        guard hasAnswer else { throw problem ?? .itemNotFound }
    }

    /// Returns the answer of the first keychain that has one.
    private func first<Value>(
        _ body: (any KeychainService) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        var found: Value?
        try search { (keychain) throws(KeychainError) in
            found = try body(keychain)
            return false
        }
        guard let found else { throw .itemNotFound }
        return found
    }

    /// Returns the results of all keychains, up to the limit of the query.
    private func collect<Value>(
        _ query: ItemQuery, _ body: (any KeychainService, ItemQuery) throws(KeychainError) -> [Value]
    ) throws(KeychainError) -> [Value] {
        var found: [Value] = []
        try search { (keychain) throws(KeychainError) in
            var rest = query
            if case .atMost(let count) = query.limit {
                rest.limit = .atMost(count - UInt32(clamping: min(found.count, Int(count))))
            }
            found += try body(keychain, rest)
            switch query.limit {
            case nil, .one: return found.isEmpty
            case .all: return true
            case .atMost(let count): return found.count < Int(count)
            }
        }
        return found
    }

    /// Returns the sum of the changes in all keychains.
    private func sum(
        _ limit: MatchLimit?, _ body: (any KeychainService) throws(KeychainError) -> Int
    ) throws(KeychainError) -> Int {
        var count = 0
        try search { (keychain) throws(KeychainError) in
            count += try body(keychain)
            return limit != .one
        }
        return count
    }
}

extension KeychainError {
    /// Whether another keychain of a search list may answer in the place of the one with this error.
    fileprivate var letsOthersAnswer: Bool {
        switch status {
        case .interactionNotAllowed: authentication == nil
        case .notAvailable, .invalidKeychain: true
        default: false
        }
    }
}

// MARK: Items and keys

extension SearchedKeychains: HostedKeychain {
    public func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        try primary.add(item, from: caller)
    }

    public func addIdentities(
        _ identities: [IdentityAddition], from caller: CallerIdentity
    ) throws(KeychainError) -> Int {
        try primary.addIdentities(identities, from: caller)
    }

    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        var damaged = 0
        let records = try collect(query) { (keychain, query) throws(KeychainError) in
            let matches = try keychain.copyMatching(query, returning: returning, from: caller)
            damaged += matches.damaged
            return matches.records
        }
        return ItemMatches(records: records, damaged: damaged)
    }

    public func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] {
        try collect(query) { (keychain, query) throws(KeychainError) in
            try keychain.copyIdentities(query, returning: returning, from: caller)
        }
    }

    public func update(
        _ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity
    ) throws(KeychainError) -> Int {
        try sum(query.limit) { (keychain) throws(KeychainError) in
            try keychain.update(query, with: update, from: caller)
        }
    }

    public func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        try sum(query.limit) { (keychain) throws(KeychainError) in try keychain.delete(query, from: caller) }
    }

    public func generateKey(
        _ generation: KeyGeneration, from caller: CallerIdentity
    ) throws(KeychainError) -> GeneratedKey {
        try primary.generateKey(generation, from: caller)
    }

    public func publicKey(
        of reference: PersistentReference, from caller: CallerIdentity
    ) throws(KeychainError) -> PublicKeyInfo {
        try first { (keychain) throws(KeychainError) in try keychain.publicKey(of: reference, from: caller) }
    }

    public func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, authentication: Authentication,
        from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try first { (keychain) throws(KeychainError) in
            try keychain.useKey(reference, use, on: input, authentication: authentication, from: caller)
        }
    }

    public func exportKey(
        _ reference: PersistentReference, authentication: Authentication, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try first { (keychain) throws(KeychainError) in
            try keychain.exportKey(reference, authentication: authentication, from: caller)
        }
    }
}

// MARK: Files

extension SearchedKeychains {
    public func createFileKey(
        _ protection: FileProtectionClass, group: String?, withholdsKey: Bool, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKey {
        try files.createFileKey(protection, group: group, withholdsKey: withholdsKey, from: caller)
    }

    public func openFileKey(_ record: FileKeyRecord, from caller: CallerIdentity) throws(KeychainError) -> SharedSecret
    {
        try files.openFileKey(record, from: caller)
    }

    public func rewrapFileKey(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKeyRecord {
        try files.rewrapFileKey(record, for: protection, group: group, from: caller)
    }

    public func useFileKey(_ request: FilePartRequest, from caller: CallerIdentity) throws(KeychainError) -> FilePart {
        try files.useFileKey(request, from: caller)
    }

    public func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) {
        try primary.storeFile(item, replaces: replaces, from: source, caller: caller)
    }

    public func readStoredFile(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?, from caller: CallerIdentity
    ) throws(KeychainError) -> StoredFilePart {
        try first { (keychain) throws(KeychainError) in
            try keychain.readStoredFile(query, at: offset, count: count, version: version, from: caller)
        }
    }
}

// MARK: Authentication

extension SearchedKeychains {
    /// A context is one in every keychain; what is proven in one of them counts there.
    public func createContext(from caller: CallerIdentity) throws(KeychainError) -> AuthenticationContextID {
        let context = try primary.createContext(from: caller)
        try adoptContext(context, from: caller)
        return context
    }

    public func adoptContext(
        _ context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        // Contexts of keychains in another process are known there alone.
        for case let keychain as any HostedKeychain in all { try keychain.adoptContext(context, from: caller) }
    }

    public func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) {
        try asking(target) { (keychain) throws(KeychainError) in
            try keychain.authenticate(for: target, in: context, prompt: prompt, from: caller)
        }
    }

    public func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity, host: any EvaluationHost
    ) throws(KeychainError) {
        try asking(target) { (keychain) throws(KeychainError) in
            try hosted(keychain).authenticate(for: target, in: context, prompt: prompt, from: caller, host: host)
        }
    }

    /// Calls `body` with the keychain that has the item of a target; for other targets, with the
    /// default keychain.
    private func asking(
        _ target: AuthenticationTarget, _ body: (any KeychainService) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        if case .item = target { try first(body) } else { try body(try primary) }
    }

    public func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        for keychain in all { try keychain.setApplicationPassword(password, in: context, from: caller) }
    }

    public func hasApplicationPassword(
        in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) -> Bool {
        for keychain in all where try keychain.hasApplicationPassword(in: context, from: caller) { return true }
        return false
    }

    public func endContext(_ context: AuthenticationContextID, from caller: CallerIdentity) {
        for keychain in all { keychain.endContext(context, from: caller) }
    }

    public func endContexts(of process: CallerIdentity.ProcessIdentity) {
        for case let keychain as any HostedKeychain in all { keychain.endContexts(of: process) }
    }

    public func presenceStatus(
        at place: PromptPlace, from caller: CallerIdentity
    ) throws(KeychainError) -> PresenceStatus {
        try primary.presenceStatus(at: place, from: caller)
    }

    public func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) -> SecurityKeyInfo {
        try primary.enrollSecurityKey(enrollment, passcode: passcode, prompt: prompt, from: caller)
    }

    public func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt,
        from caller: CallerIdentity, host: any EvaluationHost
    ) throws(KeychainError) -> SecurityKeyInfo {
        try hosted(primary).enrollSecurityKey(
            enrollment, passcode: passcode, prompt: prompt, from: caller, host: host)
    }

    public func securityKeys() throws(KeychainError) -> [SecurityKeyInfo] { try primary.securityKeys() }

    public func removeSecurityKey(
        _ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool, dryRun: Bool
    ) throws(KeychainError) -> Int {
        try primary.removeSecurityKey(key, passcode: passcode, deletesItems: deletesItems, dryRun: dryRun)
    }
}

// MARK: The default keychain as a whole

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

    /// The members stay open; whoever opened them closes them.
    public func close() {}
}

// MARK: Observing

extension SearchedKeychains {
    public func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        (try? primary)?.addLockObserver(body) ?? 0
    }

    public func removeLockObserver(_ number: Int) { (try? primary)?.removeLockObserver(number) }

    /// Changes of the default keychain.
    public func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        try primary.addChangeObserver(body)
    }

    public func removeChangeObserver(_ number: Int) { (try? primary)?.removeChangeObserver(number) }
}
