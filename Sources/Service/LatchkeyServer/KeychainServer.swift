// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyProtocol
public import LatchkeyService
public import LinuxSystem
public import Logging
internal import Synchronization

/// Serves keychains to the programs that connect. One thread for each connection answers each request before it reads
/// the next one.
public final class KeychainServer: Sendable {
    let provider: any KeychainProvider
    let reader: CallerReader
    let limits: ServerLimits
    let registry: ConnectionRegistry
    let shared: SharedResources
    let changes = IdempotencyCache()
    /// Sessions that are open, or being opened.
    let sessions: ConcurrencyLimiter
    /// 16 random bytes that let clients distinguish this run of the daemon from the next.
    let instance = RandomBytes.array(count: 16)
    let log: Logger
    private let isSession: Bool
    /// The permit of a session; released with the last reference to this server.
    private let permit: OperationPermit?
    /// Whether running requests are to be cancelled.
    private let cancelling = Atomic(false)
    let stopping: StopSignal
    private let accepting = Atomic(0)
    /// Asks the threads that accept connections whether they run.
    private let probes = SystemMutex<[Probe]>([])
    /// Wakes the thread of the housekeeping.
    private let housekeeping: WakeSignal
    /// Whether that thread waits until a request ends.
    private let awaitsRequests = Atomic(false)

    /// - Parameters:
    ///   - provider: provides the keychain of each user; closed with the server.
    ///   - reader: identifies callers.
    ///   - agents: the agents that ask persons for a daemon without a session; nil if the daemon
    ///     asks itself.
    ///   - log: receives events of connections, never the content of requests.
    public convenience init(
        _ provider: any KeychainProvider, reader: CallerReader, limits: ServerLimits = ServerLimits(),
        agents: AgentDesk? = nil, log: Logger = Logger(label: "latchkeyd") { _ in SwiftLogNoOpLogHandler() }
    ) throws(SystemError) {
        try self.init(
            provider, reader: reader, limits: limits, log: log, shared: SharedResources(limits, agents: agents),
            isSession: false, permit: nil)
    }

    /// The server of a session. It shares the per-user limits of `server`.
    ///
    /// - Parameter permit: held until this server, its connections and their requests have ended.
    convenience init(
        sessionOf server: KeychainServer, _ provider: any KeychainProvider, permit: OperationPermit? = nil
    ) throws(SystemError) {
        try self.init(
            provider, reader: server.reader, limits: server.limits.ofSession, log: server.log, shared: server.shared,
            isSession: true,
            permit: permit)
    }

    private init(
        _ provider: any KeychainProvider, reader: CallerReader, limits: ServerLimits, log: Logger,
        shared: SharedResources,
        isSession: Bool, permit: OperationPermit?
    ) throws(SystemError) {
        self.provider = provider
        self.reader = reader
        self.limits = limits
        self.log = log
        self.shared = shared
        self.isSession = isSession
        self.permit = permit
        registry = ConnectionRegistry(limits, shared)
        sessions = ConcurrencyLimiter(limits.sessionsPerUser)
        stopping = try StopSignal()
        housekeeping = try WakeSignal()
    }

    // MARK: Connections

    /// Accepts the connections that arrive at a socket, on a separate thread, until
    /// ``stop(timeout:)``.
    public func listen(on socket: Socket) throws(SystemError) {
        let probe = try Probe()
        accepting.add(1, ordering: .relaxed)
        let isRunning = BackgroundThread.run { [self] in
            defer { accepting.subtract(1, ordering: .relaxed) }
            accept(from: socket, probe)
        }
        guard isRunning else {
            accepting.subtract(1, ordering: .relaxed)
            throw SystemError("start a thread", code: EAGAIN)
        }
        probes.withLock { $0.append(probe) }
    }

    // MARK: Housekeeping

    /// Closes idle keychains and evicts expired responses, on a separate thread, until
    /// ``stop(timeout:)``. The thread sleeps until the next of them is due, or a request has ended.
    ///
    /// - Parameters:
    ///   - pause: the least time between two passes, in milliseconds.
    ///   - further: also called in each pass. Returns when it is to be called again at the latest
    ///     (`BootClock`); nil if it has nothing to wait for.
    /// - Returns: false if no thread could be started.
    public func startHousekeeping(
        pause: Int32 = 10_000, and further: @escaping @Sendable () -> UInt64? = { nil }
    ) -> Bool {
        // Counted with the accepting threads, so that `stop` waits for it too: it may be closing a
        // keychain.
        accepting.add(1, ordering: .relaxed)
        let isRunning = BackgroundThread.run { [self] in
            defer { accepting.subtract(1, ordering: .relaxed) }
            repeat {
                // An end from now on is not missed.
                awaitsRequests.store(true, ordering: .sequentiallyConsistent)
                let due = [provider.closeIdle(), changes.evictExpired(), further()].compactMap { $0 }.min()
                housekeeping.wait(milliseconds: Self.milliseconds(until: due))
            } while !stopping.wait(milliseconds: pause)
        }
        if !isRunning { accepting.subtract(1, ordering: .relaxed) }
        return isRunning
    }

    /// Has the housekeeping look again soon, because something has changed that it waits for.
    public func wakeHousekeeping() { housekeeping.raise() }

    /// Records that a request, a connection or a session has ended.
    func somethingHasEnded() {
        if awaitsRequests.exchange(false, ordering: .sequentiallyConsistent) { wakeHousekeeping() }
    }

    private static func milliseconds(until due: UInt64?) -> Int32 {
        guard let due else { return -1 }
        let now = BootClock.system.now()
        return due > now ? Int32(clamping: (due - now) / 1_000_000 + 1) : 0
    }

    // MARK: Accepting

    private func accept(from socket: Socket, _ probe: Probe) {
        while true {
            do throws(SystemError) {
                guard let connection = try socket.accept(until: stopping, answering: probe) else { return }
                serve(connection)
            } catch {
                // Too many open files or too little memory: both end when connections are closed.
                log.warning("cannot accept a connection", metadata: ["reason": "\(error.description)"])
                if stopping.wait(milliseconds: 100) { return }
            }
        }
    }

    /// Serves a connection on a separate thread.
    ///
    /// - Parameter identity: the caller, instead of the one that the kernel reports; for tests.
    public func serve(_ socket: Socket, as identity: CallerIdentity? = nil) {
        do throws(SystemError) {
            let connection = try Connection(socket, server: self, fixed: identity)
            do throws(KeychainError) {
                try provider.requireAllowedUser(of: connection.user)
                try registry.register(connection)
            } catch {
                log.notice(
                    "connection refused", metadata: ["user": "\(connection.user)", "reason": "\(error.problem)"])
                return connection.refuse(error)
            }
            let isRunning = BackgroundThread.run { [self] in
                connection.run()
                if registry.remove(connection) { endContexts(of: connection) }
                somethingHasEnded()
            }
            guard isRunning else {
                registry.remove(connection)
                return connection.refuse(
                    KeychainError(.notAvailable, "latchkeyd cannot start another thread", hint: "try again"))
            }
        } catch {
            log.warning(
                "connection refused: the caller cannot be identified", metadata: ["reason": "\(error.description)"])
        }
    }

    /// Ends the authentication contexts of a process that has no connection any more.
    private func endContexts(of connection: Connection) {
        let process = CallerIdentity.ProcessIdentity(user: connection.user, process: connection.process)
        for keychain in provider.openKeychains(of: connection.user) { keychain.service.contexts.endAll(of: process) }
    }

    /// Serves the connections that arrive as sockets through `control`, until the other end of it is closed.
    public func serve(descriptorsFrom control: Socket) {
        while true {
            do throws(SystemError) {
                switch try control.receiveDescriptor() {
                case .socket(let socket): serve(socket)
                case .nothing: continue
                case .end: return
                }
            } catch {
                return log.warning("session ended", metadata: ["reason": "\(error.description)"])
            }
        }
    }

    /// Whether connections are being accepted: the accepting threads answer within ten seconds. Only
    /// one thread may ask.
    public var isAlive: Bool {
        probes.withLock { $0 }.allSatisfy { $0.isAnswered(within: 10) } && registry.count >= 0
    }

    /// When the last request ended (`BootClock`); nil while one is in progress, or a session is open.
    public var lastUse: UInt64? { registry.lastUse }

    // MARK: Stopping

    /// Accepts no more requests, answers those in progress, closes the keychains and wipes their
    /// keys.
    ///
    /// - Parameter timeout: the longest time to wait for requests in progress, in seconds.
    public func stop(timeout: Int = 20) {
        stopping.raise()
        housekeeping.raise()
        registry.stop()
        let deadline = BootClock.system.now() + UInt64(timeout) * 1_000_000_000
        waitUntilEmpty(until: deadline)
        // Running operations end at their next step, and waiting ones are refused.
        cancelling.store(true, ordering: .relaxed)
        if !isSession { shared.slowWork.stop() }
        waitUntilEmpty(until: BootClock.system.now() + Self.cancellationTimeout)
        if !registry.isEmpty { log.warning("\(registry.count) requests were not answered before the deadline") }
        provider.close()
    }

    /// Whether the server accepts no more requests. Prompts end then.
    var isStopping: Bool { stopping.wait(milliseconds: 0) }

    /// Whether slow operations are to end without a result.
    var isCancelling: Bool { cancelling.load(ordering: .relaxed) }

    private func waitUntilEmpty(until deadline: UInt64) {
        while !registry.isEmpty || accepting.load(ordering: .relaxed) > 0, BootClock.system.now() < deadline {
            usleep(2000)
        }
    }

    /// Two seconds, in nanoseconds.
    private static let cancellationTimeout: UInt64 = 2_000_000_000

    /// The number of threads that accept connections.
    var listenerCount: Int { accepting.load(ordering: .relaxed) }

    /// The number of connections.
    public var connectionCount: Int { registry.count }

    // MARK: Session events

    /// Applies an event of a user's session or of the machine to open keychains, and to the
    /// sessions of their users. When this returns, the keychains are locked as the event requires.
    ///
    /// - Parameter user: the user of the keychain and sessions that the event concerns; nil for all users.
    public func handleSessionEvent(_ event: SessionEvent, of user: UInt32? = nil) {
        if let user {
            for keychain in provider.openKeychains(of: user) { event.apply(to: keychain.service) }
        } else {
            provider.forEachOpen { event.apply(to: $0.service) }
        }
        for session in registry.sessions(of: user) { session.handleSessionEvent(event, of: user) }
    }
}
