// SPDX-License-Identifier: Apache-2.0

internal import CLoadedLibraries
internal import CSystemd
internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// The thread of one connection. libsystemd's objects belong to it: other threads give it work.
///
/// `@unchecked Sendable` because only the thread of the loop uses the properties without a lock: `bus`, `calls`,
/// `matches`, `exports`, `owners`, `unanswered`, `unread`, `peers` and `undelivered`.
final class BusLoop: @unchecked Sendable {
    typealias Work = @Sendable (BusLoop) -> Void

    private struct Inbox {
        var work: [Work] = []
        var isStopping = false
        var isClosed = false
    }

    let limits: BusLimits
    /// Runs the handlers of the connection.
    private let queue: EventThread
    /// The events that wait for their handler, or are being handled.
    private let events = Atomic(0)
    private let wake: WakeSignal
    private let inbox = SystemMutex(Inbox())
    private let identifiers = Atomic<UInt64>(0)
    /// The thread of the loop; 0 before it runs.
    private let thread = Atomic<UInt>(0)

    /// nil before the connection and after its end.
    private(set) var bus: OpaquePointer?
    var calls: [UInt64: PendingCall] = [:]
    var matches: [UInt64: MatchSlot] = [:]
    var exports: [UInt64: ExportSlot] = [:]
    /// The owners of the names that signals are received from.
    var owners: [BusName: BusName?] = [:]
    var unanswered = UnansweredCalls()
    var unread = UnreadAnswers()
    var peers = PeerUsers()
    /// The calls that wait behind the one that is being delivered, without being in the socket or an event.
    private var undelivered = 0

    init(_ limits: BusLimits) throws(BusError) {
        self.limits = limits
        do throws(SystemError) {
            wake = try WakeSignal()
        } catch {
            throw .system(error)
        }
        guard let queue = EventThread(maxCount: limits.maxQueuedEvents, maxCost: limits.maxQueuedBytes) else {
            throw .system(SystemError("start a thread for events of the bus", code: EAGAIN))
        }
        self.queue = queue
    }

    // MARK: Any thread

    /// Returns a unique number for a call or a registration.
    func nextIdentifier() -> UInt64 { identifiers.add(1, ordering: .relaxed).newValue }

    /// Runs `work` on the thread of the loop.
    ///
    /// - Returns: false if the connection has ended; then `work` does not run.
    @discardableResult
    func perform(_ work: @escaping Work) -> Bool {
        let isAccepted = inbox.withLock { inbox in
            guard !inbox.isClosed else { return false }
            inbox.work.append(work)
            return true
        }
        if isAccepted { wake.raise() }
        return isAccepted
    }

    /// Gives an event to the thread of the handlers.
    ///
    /// - Parameter cost: its memory, in bytes.
    /// - Returns: false if too many wait, and after the end.
    func enqueue(cost: Int, _ handle: @escaping @Sendable () -> Void) -> Bool {
        events.add(1, ordering: .relaxed)
        let isQueued = queue.add(cost: cost) { [self] in
            handle()
            events.subtract(1, ordering: .releasing)
        }
        if !isQueued { events.subtract(1, ordering: .relaxed) }
        return isQueued
    }

    /// Whether all events were handled.
    var hasNoEvents: Bool { events.load(ordering: .acquiring) == 0 }

    /// Whether the calling thread is that of the loop.
    var isCurrentThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Whether the connection has not ended.
    var isOpen: Bool { inbox.withLock { !$0.isClosed && !$0.isStopping } }

    /// Ends the connection, after the work that was given before.
    func stop() {
        inbox.withLock { $0.isStopping = true }
        wake.raise()
    }

    /// Connects on a new thread; this thread then serves the connection.
    ///
    /// - Parameters:
    ///   - connected: receives the unique name of the connection, or the reason why there is none.
    ///   - onEnd: called once after all other events, if the connection was made.
    func start(
        _ address: BusAddress, connected: Waiter<BusName>, onEnd: @escaping @Sendable () -> Void
    ) throws(BusError) {
        let isRunning = BackgroundThread.run { [self] in
            thread.store(pthread_self(), ordering: .relaxed)
            defer { thread.store(0, ordering: .relaxed) }
            do throws(BusError) {
                connected.resolve(.success(try connect(address)))
            } catch {
                connected.resolve(.failure(error))
                return finish {}
            }
            while takeWork(), process() {}
            finish(onEnd)
        }
        guard !isRunning else { return }
        queue.end()
        throw .system(SystemError("start a thread for the bus", code: EAGAIN))
    }

    // MARK: The thread of the loop

    private func connect(_ address: BusAddress) throws(BusError) -> BusName {
        if let reason = latchkey_load_systemd() { throw .libraryMissing(String(cString: reason)) }
        var fresh: OpaquePointer?
        let status = address.open(&fresh)
        bus = fresh
        guard status >= 0 else { throw Self.cannotConnect(address, status) }
        while true {
            let ready = sd_bus_is_ready(bus)
            guard ready >= 0 else { throw Self.cannotConnect(address, ready) }
            if ready > 0 { break }
            guard !inbox.withLock({ $0.isStopping }) else { throw .disconnected }
            let status = sd_bus_process(bus, nil)
            guard status >= 0 else { throw Self.cannotConnect(address, status) }
            if status == 0 { wait() }
        }
        var name: UnsafePointer<CChar>?
        guard sd_bus_get_unique_name(bus, &name) >= 0, let name else {
            throw Self.cannotConnect(address, -ENOTCONN)
        }
        return try BusName(validating: String(cString: name))
    }

    private static func cannotConnect(_ address: BusAddress, _ status: Int32) -> BusError {
        .cannotConnect(to: address.description, SystemError("connect to \(address)", code: -status))
    }

    /// Runs the work that waits.
    ///
    /// - Returns: false if the connection is to end.
    private func takeWork() -> Bool {
        let (work, isStopping) = inbox.withLock { inbox in
            defer { inbox.work = [] }
            return (inbox.work, inbox.isStopping)
        }
        for work in work { work(self) }
        return !isStopping
    }

    /// Processes messages until there is no more to do, and waits, or for a turn.
    ///
    /// - Returns: false if the connection has ended.
    private func process() -> Bool {
        var turn = MessageTurn(at: BootClock.system.now())
        repeat {
            let status = sd_bus_process(bus, nil)
            guard status >= 0 else { return false }
            if status == 0 {
                wait()
                return true
            }
        } while turn.goesOn(at: BootClock.system.now())
        return true
    }

    /// Delivers calls that have waited for the same report, one after the other.
    func forEach(_ calls: [ReceivedCall], _ deliver: (ReceivedCall) -> Void) {
        undelivered = calls.count
        for call in calls {
            undelivered -= 1
            deliver(call)
        }
    }

    /// Whether no message, and no work of another thread, waits for the loop.
    var isIdle: Bool {
        guard undelivered == 0, inbox.withLock({ $0.work.isEmpty }) else { return false }
        var queued: UInt64 = 0
        guard sd_bus_get_n_queued_read(bus, &queued) >= 0, queued == 0 else { return false }
        var socket = pollfd(fd: sd_bus_get_fd(bus), events: Int16(POLLIN), revents: 0)
        return poll(&socket, 1, 0) == 0
    }

    private func wait(milliseconds limit: Int32 = -1) {
        let events = sd_bus_get_events(bus)
        var deadline = UInt64.max
        guard events >= 0, sd_bus_get_timeout(bus, &deadline) >= 0 else {
            // The next `sd_bus_process` reports the failure.
            return
        }
        wake.wait(
            for: sd_bus_get_fd(bus), events: Int16(truncatingIfNeeded: events),
            milliseconds: Self.milliseconds(until: deadline, limit: limit))
    }

    /// - Parameter deadline: microseconds of CLOCK_MONOTONIC; `UInt64.max` for none.
    private static func milliseconds(until deadline: UInt64, limit: Int32) -> Int32 {
        guard deadline != .max else { return limit }
        // Without a clock, the deadline counts as reached: libsystemd finds out.
        guard let time = SystemTime.read(.monotonic) else { return 0 }
        let current = time.seconds &* 1_000_000 &+ time.nanoseconds / 1000
        guard deadline > current else { return 0 }
        let pause = Int32(clamping: (deadline &- current) / 1000 &+ 1)
        return limit < 0 ? pause : min(pause, limit)
    }

    /// The user at the other end of the socket.
    func listeningUser() throws(BusError) -> UInt32 {
        guard let bus else { throw .disconnected }
        do throws(SystemError) {
            return try Peer(ofDescriptor: sd_bus_get_fd(bus)).user
        } catch {
            throw .system(error)
        }
    }

    // MARK: The end

    /// Sends the waiting messages, ends the connection, and fails all calls.
    private func finish(_ onEnd: @escaping @Sendable () -> Void) {
        flush()
        let open = bus
        bus = nil
        // Work of other threads may still arrive until the inbox is closed; it finds no bus.
        while true {
            let work = inbox.withLock { inbox -> [Work] in
                defer { inbox.work = [] }
                inbox.isClosed = inbox.work.isEmpty
                return inbox.work
            }
            if work.isEmpty { break }
            for work in work { work(self) }
        }
        for call in calls.values { call.end(.failure(.disconnected)) }
        for match in matches.values { match.end() }
        for export in exports.values { export.end() }
        (unanswered, unread, peers) = (UnansweredCalls(), UnreadAnswers(), PeerUsers())
        (calls, matches, exports, owners) = ([:], [:], [:], [:])
        // Without libsystemd there is none, and no function of it may be called.
        if let open { sd_bus_close_unref(open) }
        queue.end(onEnd)
    }

    /// Sends waiting messages, for at most a second: the bus may have stopped reading.
    private func flush() {
        let deadline = BootClock.system.now() &+ 1_000_000_000
        var waiting: UInt64 = 0
        while bus != nil, sd_bus_is_open(bus) > 0, sd_bus_get_n_queued_write(bus, &waiting) >= 0, waiting > 0,
            BootClock.system.now() < deadline
        {
            guard sd_bus_process(bus, nil) >= 0 else { return }
            wait(milliseconds: 10)
        }
    }
}

/// The messages that are processed before the work of other threads, such as answers. This work waits neither behind a
/// peer that sends without end, nor behind a peer with messages that take long to decode.
struct MessageTurn {
    private let end: UInt64
    private var count = 0

    /// - Parameter start: a time of `BootClock`.
    init(at start: UInt64) { end = start &+ Self.maxTime }

    /// Whether another message follows the one that was processed.
    mutating func goesOn(at now: UInt64) -> Bool {
        count += 1
        return count < Self.maxCount && now < end
    }

    static let maxCount = 32
    /// Two milliseconds, in nanoseconds.
    static let maxTime: UInt64 = 2_000_000
}
