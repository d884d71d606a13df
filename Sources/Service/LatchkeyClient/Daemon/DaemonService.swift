// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
package import LatchkeyService
package import LinuxSystem
package import SecretMemory

/// The keychain that a daemon holds. The daemon determines the caller itself.
package final class DaemonService: OperationPerformer, KeychainRegistry {
    let client: DaemonClient
    private let observers = SystemMutex<(next: Int, watches: [Int: LockStateObserver])>((0, [:]))
    private let changeObservers = SystemMutex<(next: Int, watches: [Int: ChangeObserver], isClosed: Bool)>(
        (0, [:], false))

    private let keychain: KeychainName?
    /// Makes the same for another keychain.
    private let sibling: @Sendable (KeychainName) -> DaemonService
    private let fileKeeper = SystemMutex<DaemonService?>(nil)
    private let claim: @Sendable () -> CallerIdentity
    private let automaticUnlock: AutomaticUnlock
    private let agents: AgentLauncher
    private let ownSession = SystemMutex<OwnSession?>(nil)
    /// Whether this process has locked the keychain, and then opens no session by itself.
    private let isLockedHere = SystemMutex(false)

    /// - Parameters:
    ///   - keychain: which of the user's keychains it is; nil for those of the search list.
    ///   - claim: the identity that this program claims, for what the daemon cannot determine.
    ///   - automaticPasscode: the source of the passcode, called once when items are locked; nil if
    ///     there is no source.
    ///   - agents: starts the program that asks the person for a daemon without a session.
    package init(
        _ connector: any DaemonConnector, keychain: KeychainName? = nil,
        claim: @escaping @Sendable () -> CallerIdentity,
        automaticPasscode: @escaping AutomaticUnlock.Source = { () throws(KeychainError) in nil },
        agents: AgentLauncher = AgentLauncher()
    ) {
        self.agents = agents
        client = DaemonClient(connector, keychain: keychain, claim: claim)
        self.keychain = keychain
        sibling = { name in
            DaemonService(
                connector, keychain: name, claim: claim, automaticPasscode: automaticPasscode, agents: agents)
        }
        self.claim = claim
        automaticUnlock = AutomaticUnlock(automaticPasscode)
    }

    // MARK: The keychain

    /// The keychain that has the keys of files: this one, or of the search list the one that every user
    /// has, whose lock closes them.
    var fileKeychain: DaemonService {
        guard keychain == nil else { return self }
        return fileKeeper.withLock { keeper in
            if let keeper { return keeper }
            let fresh = sibling(.login)
            keeper = fresh
            return fresh
        }
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

    package func close() {
        let watches = observers.withLock { observers in
            defer { observers.watches = [:] }
            return Array(observers.watches.values)
        }
        for watch in watches { watch.end() }
        let changeWatches = changeObservers.withLock { observers in
            defer { (observers.watches, observers.isClosed) = ([:], true) }
            return Array(observers.watches.values)
        }
        for watch in changeWatches { watch.end(isTold: true) }
        fileKeeper.withLock { keeper in
            defer { keeper = nil }
            return keeper
        }?.close()
        ownSession.withLock { $0 = nil }
        client.close()
    }

    // MARK: The person

    /// If the daemon has no session and no agent, an agent is started for the call.
    package func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) {
        let authenticate = Authenticate(for: target, in: context, prompt: prompt)
        let isNeeded = { [client] in (try? client.welcome()).map { $0.mode != .user } ?? false }
        try agents.withAgent(at: prompt.place, isNeeded: isNeeded) { () throws(KeychainError) in
            _ = try perform(authenticate, from: caller, progress: { _, _ in }, nil)
        }
    }

    /// An agent that can be started counts as one that runs.
    package func presenceStatus(at place: PromptPlace, from caller: CallerIdentity) throws(KeychainError)
        -> PresenceStatus
    {
        agents.withStartableAgent(try perform(ReadPresence(at: place), from: caller, progress: { _, _ in }, nil))
    }

    // MARK: The lock

    /// Returns the state of this process's own session, if it has one.
    package func lockStatus() throws(KeychainError) -> LockStatus {
        if let own = ownSession.withLock({ $0 }), let status = try? own.client.perform(ReadLockStatus()) {
            if status.state == .unlocked { return status }
            ownSession.withLock { $0 = nil }
        }
        return try client.perform(ReadLockStatus())
    }

    package func unlockAutomatically() {
        // Who asks whether the keychain is locked does not undo a lock.
        guard let status = try? lockStatus(), status.hasPasscode, status.state == .beforeFirstUnlock,
            status.allowsUntypedPasscode
        else { return }
        _ = automaticUnlock.reportingFailures { () throws(KeychainError) in try openOwnSession() }
    }

    package func lock(immediately: Bool) throws(KeychainError) {
        _ = try client.perform(LockKeychain(immediately: immediately))
        isLockedHere.withLock { $0 = true }
        ownSession.withLock { $0 = nil }
    }

    package func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        _ = try perform(UnlockKeychain(passcode), from: nil, progress: progress, nil)
        isLockedHere.withLock { $0 = false }
    }

    package func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        add(LockStateObserver(client, reportsFirst: false) { body($0 ?? .beforeFirstUnlock) })
    }

    /// Calls `body` with the present state of the lock and with every new one, until the observer is
    /// removed; with nil while the daemon does not tell it.
    func watchLock(_ body: @escaping @Sendable (LockState?) -> Void) -> Int {
        add(LockStateObserver(client, reportsFirst: true, body))
    }

    /// Whether the daemon cannot be reached now.
    var isAway: Bool { client.isAway }

    private func add(_ watch: LockStateObserver) -> Int {
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
        // Registered first, so that close() ends it also while it begins.
        let added = changeObservers.withLock { observers -> Int? in
            guard !observers.isClosed else { return nil }
            observers.next += 1
            observers.watches[observers.next] = observer
            return observers.next
        }
        guard let number = added else { throw KeychainError(.notAvailable, "the keychain was closed") }
        do throws(KeychainError) {
            try observer.begin()
            return number
        } catch {
            removeChangeObserver(number)
            throw error
        }
    }

    package func removeChangeObserver(_ number: Int) {
        changeObservers.withLock { $0.watches.removeValue(forKey: number) }?.end(isTold: false)
    }

    // MARK: Conversations

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

    package func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) {
        var isComplete = false
        var hasBegun = false
        func store(_ client: DaemonClient) throws(KeychainError) {
            _ = try client.converse(StoreFile(item, replaces: replaces), progress: { _, _ in }) {
                (connection) throws(KeychainError) in
                guard !isComplete else { throw .unexpectedResponse }
                hasBegun = true
                let part = try source()
                isComplete = part == nil
                let content = SendFileContent(part ?? SharedSecret(copying: []))
                try connection.send(NumberedRequest(number: client.nextNumber(), content))
            }
        }
        do throws(KeychainError) {
            try store(client)
        } catch {
            // The daemon has requested nothing of the file yet.
            guard error.isAboutLock, !hasBegun, try openOwnSession(), let own = ownSession.withLock({ $0 }) else {
                throw error
            }
            try store(own.client)
        }
    }

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

    // MARK: Keychains by name

    package func keychains() throws(KeychainError) -> KeychainOverview { try client.perform(ListKeychains()) }

    package func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError) {
        _ = try client.perform(CreateKeychain(name, passcode: passcode))
    }

    package func deleteKeychain(_ name: KeychainName) throws(KeychainError) {
        _ = try client.perform(DeleteKeychain(name))
    }

    package func changeKeychainList(_ change: KeychainListChange) throws(KeychainError) {
        _ = try client.perform(ChangeKeychainList(change))
    }

    // MARK: Performing

    /// A session that this process has opened for itself.
    private struct OwnSession: Sendable {
        let client: DaemonClient
        let hold: any Sendable
    }

    /// Performs an operation. If it is on items, which are locked, and this process has the
    /// passcode, it is repeated in a separate session of this process. The daemon's keychain stays
    /// locked for all other programs.
    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity?, progress: ChangeProgress,
        _ take: ((any ResponseContent) throws(KeychainError) -> Void)?
    ) throws(KeychainError) -> Operation.Answer {
        guard !Operation.traits.isDisjoint(with: [.accessesItems, .accessesContexts]) else {
            return try client.perform(operation, progress: progress, take)
        }
        return try withOpenItems { (client) throws(KeychainError) in
            let answer = try client.perform(operation)
            let hasLocked = (answer as? FoundItems)?.matches.locked.isEmpty == false
            return (result: answer, hasLocked: hasLocked)
        }
    }

    /// Performs the search as ``perform(_:from:progress:_:)`` does.
    package func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity,
        begin: () throws(KeychainError) -> Void, inParts take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try withOpenItems { (client) throws(KeychainError) in
            var hasLocked = false
            try client.performRepeatedly(
                CopyItems(query, returning: returning),
                begin: { () throws(KeychainError) in
                    hasLocked = false
                    try begin()
                }
            ) { (part) throws(KeychainError) in
                hasLocked = hasLocked || !part.matches.locked.isEmpty
                try take(part.matches)
            }
            return (result: (), hasLocked: hasLocked)
        }
    }

    /// - Parameter body: returns also whether a search has found items that are locked, which is no error
    ///   if they were found by their lookup attributes.
    private func withOpenItems<Result>(
        _ body: (DaemonClient) throws(KeychainError) -> (result: Result, hasLocked: Bool)
    ) throws(KeychainError) -> Result {
        if let own = ownSession.withLock({ $0 }) {
            do throws(KeychainError) {
                let (result, hasLocked) = try body(own.client)
                guard hasLocked, (try? lockStatus().state) != .unlocked else { return result }
            } catch {
                // The session has ended with its daemon, or was locked.
                guard error.status == .notAvailable || error.isAboutLock else { throw error }
            }
            ownSession.withLock { $0 = nil }
        }
        let (result, hasLocked): (Result, Bool)
        do throws(KeychainError) {
            (result, hasLocked) = try body(client)
        } catch {
            guard error.isAboutLock, try openOwnSession(), let own = ownSession.withLock({ $0 }) else { throw error }
            return try body(own.client).result
        }
        guard hasLocked else { return result }
        unlockAutomatically()
        guard let own = ownSession.withLock({ $0 }) else { return result }
        return try body(own.client).result
    }

    private func openOwnSession() throws(KeychainError) -> Bool {
        guard !isLockedHere.withLock({ $0 }) else { return false }
        return try automaticUnlock.perform(isNeeded: { ownSession.withLock { $0 == nil } }) {
            (passcode) throws(KeychainError) in
            do throws(KeychainError) {
                let (ownEnd, peerEnd) = try Self.pair()
                let hold = try openSession(passcode, control: peerEnd)
                let fresh = OwnSession(
                    client: DaemonClient(SessionConnector(control: ownEnd), keychain: keychain, claim: claim),
                    hold: hold)
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

extension KeychainError {
    /// Whether the items are locked. The same status says that the person cannot be asked.
    fileprivate var isAboutLock: Bool { status == .interactionNotAllowed && authentication == nil }
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
