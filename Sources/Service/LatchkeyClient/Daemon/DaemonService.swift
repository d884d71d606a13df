// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
package import LatchkeyService
package import LinuxSystem
package import SecretMemory

/// The keychain that a daemon holds. The daemon determines the caller itself.
package final class DaemonService: KeychainService {
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
    ///   - keychain: the user's keychain that the service is for; nil for those of the search list.
    ///   - claim: the identity that this program claims, for the facts that the daemon cannot determine.
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

    package var fileKeychain: any KeychainService {
        guard keychain == nil else { return self }
        return fileKeeper.withLock { keeper in
            if let keeper { return keeper }
            let fresh = sibling(.login)
            keeper = fresh
            return fresh
        }
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

    // MARK: The lock

    package func unlockAutomatically() {
        // Who asks whether the keychain is locked does not undo a lock.
        guard let status = try? perform(ReadLockStatus(), from: claim(), Exchange()), status.hasPasscode,
            status.state == .beforeFirstUnlock, status.allowsUntypedPasscode
        else { return }
        _ = automaticUnlock.reportingFailures { () throws(KeychainError) in try openOwnSession() }
    }

    package func addLockObserver(reportsPresent: Bool, _ body: @escaping @Sendable (LockState?) -> Void) -> Int {
        let watch = LockStateObserver(client, reportsFirst: reportsPresent, body)
        let number = observers.withLock { observers in
            observers.next += 1
            observers.watches[observers.next] = watch
            return observers.next
        }
        watch.begin()
        return number
    }

    package var isAway: Bool { client.isAway }

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

    // MARK: Sessions

    /// Makes the daemon open the keychain for the processes that hold the other end of `control`.
    ///
    /// - Returns: an object that keeps the session open as long as it is referenced.
    package func openSession(
        _ passcode: SharedSecret?, control: Socket
    ) throws(KeychainError) -> any Sendable {
        try client.converse(OpenSession(passcode), Exchange()) { (connection) throws(KeychainError) in
            do throws(SystemError) { try connection.send(descriptor: control.descriptor) } catch {
                throw KeychainError(error)
            }
        }.connection
    }

    // MARK: Performing

    /// A session that this process has opened for itself.
    private struct OwnSession: Sendable {
        let client: DaemonClient
        let hold: any Sendable
    }

    /// Performs an operation. If its items are locked, and this process has the passcode, it is repeated in a separate
    /// session of this process. The daemon's keychain stays locked for all other programs.
    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        let answer = try withAgent(operation) { () throws(KeychainError) in
            try performWhereOpen(operation, exchange)
        }
        if Operation.traits.contains(.locks) {
            isLockedHere.withLock { $0 = true }
            ownSession.withLock { $0 = nil }
        }
        if Operation.traits.contains(.unlocks) { isLockedHere.withLock { $0 = false } }
        return answer.countingAgent { agents.canStart }
    }

    /// If the daemon has no session and no agent, an agent is started for the operation.
    private func withAgent<Operation: KeychainOperation>(
        _ operation: Operation, _ body: () throws(KeychainError) -> Operation.Answer
    ) throws(KeychainError) -> Operation.Answer {
        guard let place = operation.promptPlace else { return try body() }
        let isNeeded = { [client] in (try? client.welcome()).map { $0.mode != .user } ?? false }
        return try agents.withAgent(at: place, isNeeded: isNeeded, body)
    }

    private func performWhereOpen<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        let traits = Operation.traits
        if traits.contains(.readsLock) { return try performOnLock(operation, exchange) }
        guard !traits.isDisjoint(with: [.accessesItems, .accessesContexts]) else {
            return try client.perform(operation, exchange)
        }
        let attempts = RepeatedExchange(exchange)
        if let own = ownSession.withLock({ $0 }) {
            do throws(KeychainError) {
                let answer = try own.client.perform(operation, try attempts.next())
                guard answer.hasLocked || attempts.hasPassedLocked, (try? settledState()) != .unlocked else {
                    return answer
                }
            } catch {
                // The session has ended with its daemon, or was locked.
                guard error.status == .notAvailable || error.isAboutLock, !attempts.hasGiven else { throw error }
            }
            ownSession.withLock { $0 = nil }
        }
        let answer: Operation.Answer
        do throws(KeychainError) {
            answer = try client.perform(operation, try attempts.next())
        } catch {
            // Data that was given cannot be given again.
            guard error.isAboutLock, !attempts.hasGiven, try openOwnSession(), let own = ownSession.withLock({ $0 })
            else { throw error }
            return try own.client.perform(operation, try attempts.next())
        }
        // Items that are locked are no error if they were found by their lookup attributes.
        guard answer.hasLocked || attempts.hasPassedLocked else { return answer }
        unlockAutomatically()
        guard let own = ownSession.withLock({ $0 }) else { return answer }
        return try own.client.perform(operation, try attempts.next())
    }

    /// Returns the state of this process's own session, if it has one.
    private func performOnLock<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        if let own = ownSession.withLock({ $0 }), let answer = try? own.client.perform(operation, exchange) {
            if !answer.hasLocked { return answer }
            ownSession.withLock { $0 = nil }
        }
        return try client.perform(operation, exchange)
    }

    private func settledState() throws(KeychainError) -> LockState {
        try performOnLock(ReadLockStatus(), Exchange()).state
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

/// The exchange of an operation that is performed several times, until the items are open.
private final class RepeatedExchange {
    private let whole: Exchange
    private var hasPassed = false
    /// Whether something that is locked was passed on.
    private(set) var hasPassedLocked = false
    private(set) var hasGiven = false

    init(_ whole: Exchange) { self.whole = whole }

    /// Returns the exchange for the next attempt.
    func next() throws(KeychainError) -> Exchange {
        if hasPassed { try restart() }
        var own = whole
        if let take = whole.take {
            own.take = { [self] (content) throws(KeychainError) in
                hasPassed = true
                hasPassedLocked = hasPassedLocked || content.hasLocked
                try take(content)
            }
        }
        if whole.restart != nil { own.restart = { [self] () throws(KeychainError) in try restart() } }
        if let give = whole.give {
            own.give = { [self] () throws(KeychainError) in
                hasGiven = true
                return try give()
            }
        }
        return own
    }

    private func restart() throws(KeychainError) {
        guard let restart = whole.restart else { throw .changedDuringSearch }
        // If this fails, the parts that were passed on still count.
        try restart()
        (hasPassed, hasPassedLocked) = (false, false)
    }
}
