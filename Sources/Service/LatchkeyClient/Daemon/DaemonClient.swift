// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
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
    }

    private let connector: any DaemonConnector
    private let claim: @Sendable () -> CallerIdentity
    private let state = Mutex(State())
    private let numbers = Atomic<UInt64>(0)

    init(_ connector: any DaemonConnector, claim: @escaping @Sendable () -> CallerIdentity) {
        self.connector = connector
        self.claim = claim
    }

    /// Returns the daemon's welcome message.
    func welcome() throws(KeychainError) -> LatchkeyProtocol.Response.Welcome {
        let connection = try connection()
        returnConnection(connection)
        return connection.welcome
    }

    /// Makes a request, and passes the parts of its response to `take`.
    ///
    /// A lost connection is replaced by a new one, also if the daemon was restarted. The request is
    /// then repeated if it changes nothing, or if the daemon is the same process and knows the
    /// result of the first attempt.
    ///
    /// - Parameters:
    ///   - isRepeatable: false if parts of the response are passed on before the rest arrives.
    ///   - begin: called before each attempt.
    ///   - take: takes one part of the response, and returns true for the last one.
    /// - Throws: errSecIO if it is unknown whether a requested change was made.
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
                // A daemon that was running before may be restarting.
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
        .io, "latchkeyd ended during this change, and it is unknown whether the change was made",
        hint: "check whether the change was made, and repeat it if not")
    private static let lost = KeychainError(
        .io, "the connection to latchkeyd was lost during its response", hint: "try again")
    private static let maxAttempts = 5
    private static let maxIdle = 64
    /// How long to wait for a daemon that restarts: 5 seconds, in nanoseconds.
    private static let retryTimeout: UInt64 = 5_000_000_000
}
