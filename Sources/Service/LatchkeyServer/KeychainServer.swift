// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyProtocol
public import LatchkeyService
public import LinuxSystem
public import Logging
internal import Synchronization

/// Serves keychains to the programs that connect: a thread a connection, each request answered before the next one is read.
public final class KeychainServer: Sendable {
    let provider: any KeychainProvider
    let reader: CallerReader
    let limits: ServerLimits
    let registry: ConnectionRegistry
    let shared: SharedResources
    let changes = IdempotencyCache()
    /// Sessions that are open, or being opened.
    let sessions: ConcurrencyLimiter
    /// 16 random bytes by which clients tell this run of the daemon from the next.
    let instance = RandomBytes.array(count: 16)
    let log: Logger
    private let isSession: Bool
    /// The place of a session among those of its user; given back when nothing refers to this server any more.
    private let permit: ConcurrencyLimiter.Permit?
    /// Whether what requests ask for is no longer wanted.
    private let cancelling = Atomic(false)
    private let stopping: StopSignal
    private let accepting = Atomic(0)
    private let heartbeat = Atomic(BootClock.system.now())

    /// - Parameters:
    ///   - provider: which keychain a user's programs get; closed with the server.
    ///   - reader: how callers are known.
    ///   - log: what happens to connections; never what is asked for.
    public convenience init(
        _ provider: any KeychainProvider, reader: CallerReader, limits: ServerLimits = ServerLimits(),
        log: Logger = Logger(label: "latchkeyd") { _ in SwiftLogNoOpLogHandler() }
    ) throws(SystemError) {
        try self.init(
            provider, reader: reader, limits: limits, log: log, shared: SharedResources(limits), isSession: false,
            permit: nil)
    }

    /// A session's server, which shares with `server` what is lent to its user.
    ///
    /// - Parameter permit: kept until this server, its connections and their requests have ended.
    convenience init(
        sessionOf server: KeychainServer, _ provider: any KeychainProvider, permit: ConcurrencyLimiter.Permit? = nil
    ) throws(SystemError) {
        try self.init(
            provider, reader: server.reader, limits: server.limits.ofSession, log: server.log, shared: server.shared,
            isSession: true,
            permit: permit)
    }

    private init(
        _ provider: any KeychainProvider, reader: CallerReader, limits: ServerLimits, log: Logger,
        shared: SharedResources,
        isSession: Bool, permit: ConcurrencyLimiter.Permit?
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
    }

    // MARK: Connections

    /// Takes the connections that arrive at a socket, on a thread of its own, until ``stop(timeout:)``.
    public func listen(on socket: Socket) throws(SystemError) {
        accepting.add(1, ordering: .relaxed)
        let isRunning = BackgroundThread.run { [self] in
            defer { accepting.subtract(1, ordering: .relaxed) }
            accept(from: socket)
        }
        guard isRunning else {
            accepting.subtract(1, ordering: .relaxed)
            throw SystemError("start a thread", code: EAGAIN)
        }
    }

    /// Closes idle keychains and forgets old answers now and then, on a thread of its own, until ``stop(timeout:)``.
    ///
    /// - Returns: false where the system has no thread to give.
    public func startHousekeeping() -> Bool {
        // Its end is waited for as that of the threads that take connections: it may be closing a keychain.
        accepting.add(1, ordering: .relaxed)
        let isRunning = BackgroundThread.run { [self] in
            defer { accepting.subtract(1, ordering: .relaxed) }
            while !stopping.wait(milliseconds: Self.housekeepingInterval) {
                provider.closeIdle()
                changes.evictExpired()
            }
        }
        if !isRunning { accepting.subtract(1, ordering: .relaxed) }
        return isRunning
    }

    /// Ten seconds.
    private static let housekeepingInterval: Int32 = 10_000

    private func accept(from socket: Socket) {
        while true {
            do throws(SystemError) {
                guard
                    let connection = try socket.accept(
                        until: stopping, heartbeat: { heartbeat.store(BootClock.system.now(), ordering: .relaxed) })
                else { return }
                serve(connection)
            } catch {
                // Too many open files, or no memory: both pass when connections end.
                log.warning("a connection could not be accepted", metadata: ["reason": "\(error.description)"])
                if stopping.wait(milliseconds: 100) { return }
            }
        }
    }

    /// Serves a connection on a thread of its own.
    ///
    /// - Parameter identity: who is calling, where the kernel is not to be asked; for tests.
    public func serve(_ socket: Socket, as identity: CallerIdentity? = nil) {
        do throws(SystemError) {
            let connection = try Connection(socket, server: self, fixed: identity)
            do throws(KeychainError) {
                try provider.requireAllowedUser(of: connection.user)
                try registry.register(connection)
            } catch {
                log.notice(
                    "a connection was refused", metadata: ["user": "\(connection.user)", "reason": "\(error.problem)"])
                return connection.refuse(error)
            }
            let isRunning = BackgroundThread.run { [self] in
                connection.run()
                registry.remove(connection)
            }
            guard isRunning else {
                registry.remove(connection)
                return connection.refuse(
                    KeychainError(.notAvailable, "latchkeyd has no thread left", hint: "try again"))
            }
        } catch {
            log.warning(
                "nothing is known of a caller, who was not served", metadata: ["reason": "\(error.description)"])
        }
    }

    /// Serves the connections whose ends are handed over through `control`, until nobody holds the other end of it.
    public func serve(descriptorsFrom control: Socket) {
        while true {
            do throws(SystemError) {
                switch try control.receiveDescriptor() {
                case .socket(let socket): serve(socket)
                case .nothing: continue
                case .end: return
                }
            } catch {
                return log.warning("a session ended", metadata: ["reason": "\(error.description)"])
            }
        }
    }

    /// Whether connections are being taken: the thread that does so has gone round in the last seconds.
    public var isAlive: Bool {
        BootClock.system.now() < heartbeat.load(ordering: .relaxed) + Self.maxPause && registry.count >= 0
    }

    /// Ten seconds, in nanoseconds.
    private static let maxPause: UInt64 = 10_000_000_000

    // MARK: The end

    /// Takes no more requests, answers those on their way, and closes the keychains, whose keys are wiped.
    ///
    /// - Parameter timeout: how long answers may take, in seconds.
    public func stop(timeout: Int = 20) {
        stopping.raise()
        registry.stop()
        let deadline = BootClock.system.now() + UInt64(timeout) * 1_000_000_000
        waitUntilEmpty(until: deadline)
        // What still runs ends at its next step, and what waits is refused.
        cancelling.store(true, ordering: .relaxed)
        if !isSession { shared.slowWork.stop() }
        waitUntilEmpty(until: BootClock.system.now() + Self.cancellationTimeout)
        if !registry.isEmpty { log.warning("\(registry.count) requests were not answered in time") }
        provider.close()
    }

    /// Whether slow operations are to end without their result.
    var isCancelling: Bool { cancelling.load(ordering: .relaxed) }

    private func waitUntilEmpty(until deadline: UInt64) {
        while !registry.isEmpty || accepting.load(ordering: .relaxed) > 0, BootClock.system.now() < deadline {
            usleep(2000)
        }
    }

    /// Two seconds, in nanoseconds.
    private static let cancellationTimeout: UInt64 = 2_000_000_000

    /// How many threads take connections.
    var listenerCount: Int { accepting.load(ordering: .relaxed) }

    /// How many connections there are.
    public var connectionCount: Int { registry.count }

    // MARK: What happens to the machine

    /// Passes on what happened to the user's session or to the machine.
    public func handleSessionEvent(_ event: SessionEvent) {
        provider.forEachOpen { event.apply(to: $0.service) }
        for session in registry.sessions() { session.handleSessionEvent(event) }
    }
}
