// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyServer
internal import LinuxSystem
internal import Logging
internal import SystemBus

/// Follows the sessions of logind over one connection to the bus.
///
/// The sleep of the machine is handled on the thread of the connection's handlers, everything else
/// on the thread of the queue, both in the order of the signals. So sleep overtakes events of
/// sessions that take long, and the keychains are locked before `InhibitDelayMaxSec`.
final class LoginObserver: Sendable {
    private let manager: LoginManager
    /// The only user to observe; nil for all users.
    private let user: UInt32?
    private let table: LoginTable
    private let handler: @Sendable (SessionEvent, UInt32?) -> Void
    private let log: Logger
    private let queue: EventQueue
    private let inhibitor = SystemMutex(Inhibitor())
    private let registrations = SystemMutex<[BusRegistration]>([])

    /// The inhibitor of sleep, and how many there have been.
    private struct Inhibitor {
        var descriptor: BusDescriptor?
        var number = 0
    }

    init(
        _ bus: BusConnection, user: UInt32?, table: LoginTable, log: Logger,
        handler: @escaping @Sendable (SessionEvent, UInt32?) -> Void
    ) throws(BusError) {
        queue = try EventQueue()
        manager = LoginManager(bus: bus)
        self.user = user
        self.table = table
        self.log = log
        self.handler = handler
    }

    /// Observes logind, also if it starts later. Then reads the state, because events may have been
    /// missed.
    func start() throws(BusError) {
        // The handlers do not retain the observer: its release ends the subscriptions.
        let subscriptions = [
            try manager.observeSleep { [weak self] in self?.sleep($0) },
            try manager.observeSessions("Lock") { [weak self] path in self?.add(isLock: true) { $0.lock(path) } },
            try manager.observeLockedHints { [weak self] path, isLocked in
                if isLocked { self?.add(isLock: true) { $0.lock(path) } }
            },
            try manager.observeManager("SessionNew") { [weak self] path in self?.add { _ = $0.findSession(path) } },
            try manager.observeManager("SessionRemoved") { [weak self] path in self?.add(isLock: true) { $0.end(path) }
            },
            try manager.bus.observeOwner(of: LoginManager.name) { [weak self] in if $0 != nil { self?.attach() } },
        ]
        registrations.withLock { $0 = subscriptions }
        manager.bus.performInOrder { [weak self] in self?.attach() }
    }

    /// Ends the observation; the machine may sleep without waiting.
    func stop() {
        registrations.withLock { $0 = [] }
        queue.end()
        inhibitor.withLock { $0.descriptor = nil }
    }

    /// Handles an event after those that wait.
    ///
    /// - Parameter isLock: whether the event can lock a keychain.
    private func add(isLock: Bool = false, _ event: @escaping @Sendable (LoginObserver) -> Void) {
        // A lost event could be a lost lock: another connection reads the state again.
        if !queue.add(isLock: isLock, { event(self) }) { manager.bus.close() }
    }

    // MARK: The state of logind

    /// Begins with a logind that has appeared.
    private func attach() {
        inhibitSleep()
        add(isLock: true) { $0.synchronize() }
    }

    private func synchronize() {
        do throws(BusError) {
            var sessions: [ObjectPath: SessionRecord] = [:]
            for path in try manager.sessions(of: user) { sessions[path] = try manager.session(at: path) }
            for user in table.replace(with: sessions) where concerns(user) { handler(.end, user) }
            for user in Set(sessions.values.filter(\.isLocked).map(\.user)) { handler(.lock, user) }
            if try manager.isPreparingForSleep() { lockForSleep(inhibitorNumber) }
            let count = sessions.count
            add { $0.log.info("listening to logind", metadata: ["sessions": "\(count)"]) }
        } catch {
            log.notice(
                "logind does not answer; the keychain does not lock with the session until it does",
                metadata: ["reason": "\(error.description)"])
            reconnectAfterTimeout(error)
        }
    }

    /// If logind is missing, it is observed when it starts. If it hangs, only another attempt helps, because the
    /// attempt reads the state again.
    private func reconnectAfterTimeout(_ error: BusError) {
        if case .timeout = error { manager.bus.close() }
    }

    private func inhibitSleep() {
        do throws(BusError) {
            let fresh = try manager.inhibitSleep()
            inhibitor.withLock { $0 = Inhibitor(descriptor: fresh, number: $0.number &+ 1) }
        } catch {
            log.info(
                "the machine does not wait for the lock before it sleeps", metadata: ["reason": "\(error.description)"])
            reconnectAfterTimeout(error)
        }
    }

    /// Returns the user of a session if events of the user count, and learns of a new session. Those
    /// of other users are kept as well, so that their signals cost one request each, not one a signal.
    private func findSession(_ path: ObjectPath) -> UInt32? {
        if let known = table.user(of: path) { return concerns(known) ? known : nil }
        do throws(BusError) {
            guard let record = try manager.session(at: path) else { return nil }
            table.add(record, at: path)
            return concerns(record.user) ? record.user : nil
        } catch {
            reconnectAfterTimeout(error)
            return nil
        }
    }

    private func concerns(_ other: UInt32) -> Bool { user == nil || user == other }

    // MARK: Events

    private func lock(_ path: ObjectPath) {
        if let user = findSession(path) { handler(.lock, user) }
    }

    private func end(_ path: ObjectPath) {
        if let user = table.remove(path), concerns(user) { handler(.end, user) }
    }

    private func sleep(_ isBefore: Bool) {
        guard isBefore else { return inhibitSleep() }
        let number = inhibitorNumber
        guard !queue.hasLocks else {
            handler(.sleep, user)
            // A lock that arrived before the sleep is still to be made. Its keychain would keep its
            // keys for the grace period, so sleep is reported again.
            return add { $0.lockForSleep(number) }
        }
        lockForSleep(number)
    }

    /// - Parameter number: of the inhibitor that is released.
    private func lockForSleep(_ number: Int) {
        handler(.sleep, user)
        // The keys are wiped: the machine may sleep. After it has woken up, the inhibitor is another
        // one.
        inhibitor.withLock { if $0.number == number { $0.descriptor = nil } }
    }

    private var inhibitorNumber: Int { inhibitor.withLock { $0.number } }
}

/// The sessions that are known, also between two connections to the bus.
final class LoginTable: Sendable {
    private let table = SystemMutex(SessionTable())

    func user(of path: ObjectPath) -> UInt32? { table.withLock { $0.user(of: path) } }
    func add(_ record: SessionRecord, at path: ObjectPath) { table.withLock { $0.add(record, at: path) } }
    func remove(_ path: ObjectPath) -> UInt32? { table.withLock { $0.remove(path) } }
    func replace(with others: [ObjectPath: SessionRecord]) -> Set<UInt32> {
        table.withLock { $0.replace(with: others) }
    }
}
