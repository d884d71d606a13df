// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import Synchronization

/// The connections of this process to a daemon: one for each concurrent request. Idle connections
/// are reused.
final class DaemonClient: Sendable {
    private struct State {
        var idle: [DaemonConnection] = []
        var isClosed = false
        /// Whether a connection has ever succeeded.
        var hasConnected = false
        /// Whether the last attempt to connect found no daemon.
        var isLost = false
    }

    private let connector: any DaemonConnector
    private let claim: @Sendable () -> CallerIdentity
    private let keychain: KeychainName?
    private let state = SystemMutex(State())
    private let numbers = Atomic<UInt64>(0)

    /// - Parameter keychain: the user's keychain that the connections are for; nil for those of the search list.
    init(
        _ connector: any DaemonConnector, keychain: KeychainName? = nil,
        claim: @escaping @Sendable () -> CallerIdentity
    ) {
        self.connector = connector
        self.keychain = keychain
        self.claim = claim
    }

    /// Returns the daemon's welcome message.
    func welcome() throws(KeychainError) -> Welcome {
        let connection = try connection()
        returnConnection(connection)
        return connection.welcome
    }

    /// Performs an operation, and returns its answer.
    ///
    /// A request is not repeated after the caller has given something, or has taken something without being
    /// able to restart.
    func perform<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange = Exchange()
    ) throws(KeychainError) -> Operation.Answer {
        try DebugLog.measure(
            "request \(type: Operation.self) to latchkeyd", failure: { (error: KeychainError) in "\(error)" }
        ) { () throws(KeychainError) -> Operation.Answer in
            guard exchange.give == nil else { return try converse(operation, exchange).answer }
            do throws(KeychainError) {
                return try answer(to: operation, exchange)
            } catch {
                guard error == .itemNotFound, let nothing = operation.nothing else { throw error }
                return nothing
            }
        }
    }

    private func answer<Operation: KeychainOperation>(
        to operation: Operation, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        var answer = PartialAnswer<Operation.Answer>(exchange)
        try request(operation, isRepeatable: exchange.take == nil || exchange.restart != nil) {
            () throws(KeychainError) in
            try answer.restart()
        } _: { (response) throws(KeychainError) in
            switch response {
            case .failure(let error): throw error
            case .progress(let done, let total): exchange.progress(done, total)
            case .content(let content): try answer.take(content)
            }
            return !response.moreFollows
        }
        return try answer.complete()
    }

    /// Performs an operation with data that the client sends whenever the daemon is ready, on a connection that no
    /// other request uses. The request is not repeated.
    ///
    /// - Parameter whenReady: sends it; nil for the next part that the exchange gives.
    /// - Returns: the answer, and the connection.
    func converse<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange,
        whenReady: ((DaemonConnection) throws(KeychainError) -> Void)? = nil
    ) throws(KeychainError) -> (answer: Operation.Answer, connection: DaemonConnection) {
        let isChange = Operation.traits.contains(.changes)
        let numbered = NumberedRequest(
            number: nextNumber(), token: isChange ? RandomBytes.array(count: 16) : [], operation)
        return try withConnection(isChange: isChange) { (connection) throws(DaemonConnection.Failure) in
            var answer: Operation.Answer?
            try connection.exchange(numbered) { (response) throws(KeychainError) in
                switch response {
                case .failure(let error): throw error
                case .progress(let done, let total): exchange.progress(done, total)
                case .content(is Ready):
                    if let whenReady {
                        try whenReady(connection)
                    } else {
                        guard let part = try exchange.give?() else { throw .unexpectedResponse }
                        try connection.send(NumberedRequest(number: nextNumber(), part))
                    }
                case .content(let found as Operation.Answer):
                    answer = found
                    return true
                case .content(let content):
                    guard let take = exchange.take else { throw .unexpectedResponse }
                    try take(content)
                }
                return false
            }
            guard let answer else { throw .keychain(.unexpectedResponse) }
            return (answer, connection)
        }
    }

    /// Makes a request, and passes its responses to `take`.
    ///
    /// A lost connection is replaced by a new one, also if the daemon was restarted. The request is
    /// then repeated if it changes nothing, or if the daemon is the same process and knows the
    /// result of the first attempt.
    ///
    /// - Parameters:
    ///   - isRepeatable: false if parts of the response are passed on before the rest arrives.
    ///   - begin: called before each attempt.
    ///   - take: takes one response, and returns true for the last one.
    /// - Throws: errSecIO if it is unknown whether a requested change was made.
    private func request<Operation: KeychainOperation>(
        _ operation: Operation, isRepeatable: Bool, begin: () throws(KeychainError) -> Void,
        _ take: (Response) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        let isChange = Operation.traits.contains(.changes)
        let token = isChange ? RandomBytes.array(count: 16) : []
        var instance: [UInt8]?
        for attempt in 1... {
            let connection: DaemonConnection
            do throws(KeychainError) {
                connection = try self.connection()
            } catch {
                throw instance != nil && isChange ? Self.unknownOutcome : error
            }
            if let instance, isChange, connection.welcome.instance != instance {
                returnConnection(connection)
                throw Self.unknownOutcome
            }
            let numbered = NumberedRequest(number: nextNumber(), token: token, operation)
            try begin()
            do throws(DaemonConnection.Failure) {
                try connection.exchange(numbered, take)
                return returnConnection(connection)
            } catch {
                switch error {
                case .answered(let error):
                    returnConnection(connection)
                    throw error
                case .keychain(let error): throw error
                case .lost(let wasSent):
                    guard attempt < Self.maxAttempts, isRepeatable else {
                        throw isChange && (wasSent || instance != nil) ? Self.unknownOutcome : Self.lost
                    }
                    if wasSent { instance = connection.welcome.instance }
                }
            }
        }
    }

    /// Runs `body` with a connection that no other request uses, and that is not reused.
    ///
    /// - Parameter isChange: whether the request changes something, so that its outcome is unknown
    ///   if the connection is lost.
    func withConnection<Result>(
        isChange: Bool = false, _ body: (DaemonConnection) throws(DaemonConnection.Failure) -> Result
    ) throws(KeychainError) -> Result {
        let connection = try connection()
        do throws(DaemonConnection.Failure) {
            return try body(connection)
        } catch {
            switch error {
            case .keychain(let error), .answered(let error): throw error
            case .lost(let wasSent): throw isChange && wasSent ? Self.unknownOutcome : Self.lost
            }
        }
    }

    /// Returns a wait until the daemon is there again.
    func daemonReturn() -> DaemonReturn { DaemonReturn(connector) }

    func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

    /// Whether the daemon was there before, and is not any more.
    var isLost: Bool { state.withLock { $0.hasConnected && $0.isLost } }

    /// Whether no connection can be made now. Does not wait for a daemon that restarts.
    var isAway: Bool {
        do throws(KeychainError) {
            returnConnection(try DaemonConnection(try connector.connect(), claim: claim(), keychain: keychain))
            return false
        } catch {
            return error.status == .notAvailable
        }
    }

    func close() {
        state.withLock { $0 = State(isClosed: true) }
    }

    // MARK: Connections

    private func connection() throws(KeychainError) -> DaemonConnection {
        while let idle = state.withLock({ $0.idle.popLast() }) {
            if !idle.isStale { return idle }
        }
        let deadline = BootClock.system.now() + Self.retryTimeout
        while true {
            do throws(KeychainError) {
                let fresh = try DaemonConnection(try connector.connect(), claim: claim(), keychain: keychain)
                state.withLock { ($0.hasConnected, $0.isLost) = (true, false) }
                return fresh
            } catch {
                // A daemon that was running before may be restarting.
                guard error.status == .notAvailable, state.withLock({ $0.hasConnected && !$0.isClosed }),
                    BootClock.system.now() < deadline
                else {
                    if error.status == .notAvailable { state.withLock { $0.isLost = true } }
                    throw error
                }
                usleep(20_000)
            }
        }
    }

    private func returnConnection(_ connection: DaemonConnection) {
        state.withLock { state in
            if !state.isClosed, state.idle.count < Self.maxIdle { state.idle.append(connection) }
        }
    }

    private static let unknownOutcome = KeychainError(
        .io, "latchkeyd ended during this change, and it is unknown whether the change was made",
        hint: "check whether the change was made, and repeat it if not")
    private static let lost = KeychainError(
        .io, "the connection to latchkeyd was lost during its response", hint: "try again")
    private static let maxAttempts = 5
    private static let maxIdle = 64
    /// How long to wait for a daemon that restarts: 5 seconds, in nanoseconds.
    private static let retryTimeout: UInt64 = 5_000_000_000
}

/// The parts of an answer that have arrived. They are joined, or passed on.
private struct PartialAnswer<Answer: ResponseContent> {
    private let exchange: Exchange
    private var answer: Answer?
    private var hasPassed = false

    init(_ exchange: Exchange) { self.exchange = exchange }

    mutating func restart() throws(KeychainError) {
        if hasPassed { try exchange.restart?() }
        (answer, hasPassed) = (nil, false)
    }

    mutating func take(_ content: any ResponseContent) throws(KeychainError) {
        if let take = exchange.take, content.moreFollows {
            hasPassed = true
            return try take(content)
        }
        guard let part = content as? Answer else { throw .unexpectedResponse }
        if answer == nil { answer = part } else { answer?.append(part) }
    }

    func complete() throws(KeychainError) -> Answer {
        guard let answer else { throw .unexpectedResponse }
        return answer
    }
}
