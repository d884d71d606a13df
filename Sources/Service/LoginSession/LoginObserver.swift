// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyServer
internal import LinuxSystem
internal import Logging
internal import SystemBus

/// Follows the sessions of logind over one connection to the bus.
///
/// All of its work runs on the thread of the connection's handlers, in the order of the signals.
final class LoginObserver: Sendable {
    private let manager: LoginManager
    /// The only user whose events count; nil for all users.
    private let user: UInt32?
    private let table: LoginTable
    private let handler: @Sendable (SessionEvent, UInt32?) -> Void
    private let log: Logger
    private let inhibitor = SystemMutex<BusDescriptor?>(nil)
    private let registrations = SystemMutex<[BusRegistration]>([])

    init(
        _ bus: BusConnection, user: UInt32?, table: LoginTable, log: Logger,
        handler: @escaping @Sendable (SessionEvent, UInt32?) -> Void
    ) {
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
            try manager.observeSessions("Lock") { [weak self] in self?.lock($0) },
            try manager.observeLockedHints { [weak self] in if $1 { self?.lock($0) } },
            try manager.observeManager("SessionNew") { [weak self] in _ = self?.findSession($0) },
            try manager.observeManager("SessionRemoved") { [weak self] in self?.end($0) },
            try manager.bus.observeOwner(of: LoginManager.name) { [weak self] in if $0 != nil { self?.synchronize() } },
        ]
        registrations.withLock { $0 = subscriptions }
        manager.bus.performInOrder { [weak self] in self?.synchronize() }
    }

    /// Ends the observation; the machine may sleep without waiting.
    func stop() {
        registrations.withLock { $0 = [] }
        inhibitor.withLock { $0 = nil }
    }

    // MARK: The state of logind

    private func synchronize() {
        inhibitSleep()
        do throws(BusError) {
            var sessions: [ObjectPath: SessionRecord] = [:]
            for path in try manager.sessions(of: user) { sessions[path] = try manager.session(at: path) }
            for user in table.replace(with: sessions) where concerns(user) { handler(.end, user) }
            for user in Set(sessions.values.filter(\.isLocked).map(\.user)) { handler(.lock, user) }
            if try manager.isPreparingForSleep() { sleep(true) }
            log.info("listening to logind", metadata: ["sessions": "\(sessions.count)"])
        } catch {
            log.notice(
                "logind does not answer; the keychain does not lock with the session until it does",
                metadata: ["reason": "\(error.description)"])
            reconnectAfterTimeout(error)
        }
    }

    /// If logind is missing, it is observed when it starts. If it hangs, only another attempt helps,
    /// which reads the state again.
    private func reconnectAfterTimeout(_ error: BusError) {
        if case .timeout = error { manager.bus.close() }
    }

    private func inhibitSleep() {
        do throws(BusError) {
            let fresh = try manager.inhibitSleep()
            inhibitor.withLock { $0 = fresh }
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
        handler(.sleep, user)
        // The keys are wiped: the machine may sleep.
        inhibitor.withLock { $0 = nil }
    }
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
