// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LinuxSystem
internal import Synchronization

/// The connections of this process to a daemon: as many as threads ask at once, kept for the next ones.
final class DaemonClient: Sendable {
    private struct State {
        var idle: [DaemonConnection] = []
        var isClosed = false
        /// Whether a daemon has ever answered.
        var hasConnected = false
    }

    private let connector: any DaemonConnector
    private let claim: @Sendable () -> CallerIdentity
    private let state = Mutex(State())
    private let numbers = Atomic<UInt64>(0)

    init(_ connector: any DaemonConnector, claim: @escaping @Sendable () -> CallerIdentity) {
        self.connector = connector
        self.claim = claim
    }

    /// What the daemon says of itself.
    func welcome() throws(KeychainError) -> LatchkeyProtocol.Response.Welcome {
        let connection = try connection()
        returnConnection(connection)
        return connection.welcome
    }

    /// Makes a request, whose only answer `take` understands; whatever else comes is refused.
    ///
    /// A connection that is lost is made anew, also to a daemon that was started anew. The request is then repeated, if it changes nothing, or
    /// if the same daemon can say what became of it.
    ///
    /// - Parameters:
    ///   - isRepeatable: false where a part of the answer is passed on before the rest of it comes.
    ///   - begin: called before each attempt.
    ///   - take: takes parts of the answer, and answers true with the last one.
    /// - Throws: errSecIO where a change was asked for and nobody knows whether it was made.
    func perform(
        _ request: Request, isRepeatable: Bool = true, begin: () -> Void = {},
        _ take: (Response) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        let token = request.isChange ? RandomBytes.array(count: 16) : []
        var instance: [UInt8]?
        for attempt in 1... {
            let connection: DaemonConnection
            do throws(KeychainError) {
                connection = try self.connection()
            } catch {
                throw instance != nil && request.isChange ? Self.unknownOutcome : error
            }
            if let instance, request.isChange, connection.welcome.instance != instance {
                returnConnection(connection)
                throw Self.unknownOutcome
            }
            let numbered = NumberedRequest(number: nextNumber(), token: token, request)
            do throws(DaemonConnection.Failure) {
                begin()
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
                        throw request.isChange && (wasSent || instance != nil) ? Self.unknownOutcome : Self.lost
                    }
                    if wasSent { instance = connection.welcome.instance }
                }
            }
        }
    }

    /// Runs `body` with a connection that nobody else uses, and that is not kept.
    ///
    /// - Parameter isChange: whether it is not known, where the connection is lost, what became of it.
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

    func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

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
                let fresh = try DaemonConnection(try connector.connect(), claim: claim())
                state.withLock { $0.hasConnected = true }
                return fresh
            } catch {
                // A daemon that was there is perhaps being started anew.
                guard error.status == .notAvailable, state.withLock({ $0.hasConnected && !$0.isClosed }),
                    BootClock.system.now() < deadline
                else {
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
        .io, "latchkeyd ended in the middle of this change, and whether it was made is not known",
        hint: "look whether it was made, and make it again if not")
    private static let lost = KeychainError(
        .io, "the connection to latchkeyd was lost in the middle of its answer", hint: "try again")
    private static let maxAttempts = 5
    private static let maxIdle = 64
    /// How long a daemon that was there may be away: 5 seconds, in nanoseconds.
    private static let retryTimeout: UInt64 = 5_000_000_000
}
