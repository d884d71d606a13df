// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyServer
internal import LatchkeyService
internal import LinuxSystem
internal import LoginSession
internal import Logging

/// A daemon from its start to the signal that stops it.
final class RunningDaemon: Sendable {
    private let server: KeychainServer
    private let own: ServerSocket?
    private let log: Logger
    private let end: StopSignal
    private let login: LoginMonitor

    /// Listens at the sockets of the service manager, or at a socket that it creates.
    ///
    /// - Parameters:
    ///   - idleTime: after how many seconds without a request it ends; nil for never.
    ///   - end: raised by the signals that end the daemon.
    init(_ environment: DaemonEnvironment, idleTime: Int?, _ log: Logger, until end: StopSignal) throws {
        (self.log, self.end) = (log, end)
        signal(SIGHUP, SIG_IGN)
        umask(0o077)
        let given = try ServiceManager.takeListeningSockets()
        own = given.isEmpty ? try ServerSocket(at: try environment.socketPath(), isForAll: environment.isSystem) : nil
        let agents = AgentDesk()
        let provider = try environment.provider(agents)
        let server = try KeychainServer(
            provider, reader: environment.reader(),
            agents: environment.isSystem ? agents : nil, log: log)
        self.server = server
        login = try LoginMonitor(user: environment.isSystem ? nil : geteuid(), log: log) { event, user in
            server.handleSessionEvent(event, of: user)
        }
        for socket in given + [own?.socket].compactMap({ $0 }) { try server.listen(on: socket) }
        let isRunning = Self.startHousekeeping(server, provider, own, idleTime, end)
        guard isRunning, login.start() else { throw SystemError("start a thread", code: EAGAIN) }
        log.info(
            "listening",
            metadata: ["mode": "\(environment.isSystem ? "system" : "user")", "activated": "\(!given.isEmpty)"])
    }

    func run() throws {
        try ServiceManager.notify("READY=1\nSTATUS=Serving")
        startWatchdog()
        // A signal of the debugger also ends a wait.
        while !end.wait(milliseconds: -1) {}
        _ = try? ServiceManager.notify("STOPPING=1")
        login.stop()
        // Clients that connect from now on reach the next daemon, or none.
        own?.remove()
        server.stop()
        log.info("stopped")
    }

    /// Starts the housekeeping of the server. With an idle time it ends the process, as a signal does,
    /// when no keychain is unlocked and no process has asked for a while, or none can ask, because the
    /// socket was removed.
    private static func startHousekeeping(
        _ server: KeychainServer, _ provider: HomeProvider, _ socket: ServerSocket?, _ idleTime: Int?,
        _ end: StopSignal
    ) -> Bool {
        guard let idleTime else { return server.startHousekeeping() }
        let pause = UInt64(idleTime) * 1_000_000_000
        provider.observeLocks { server.wakeHousekeeping() }
        let isObserved = socket.map { $0.observeEnd(until: end) { server.wakeHousekeeping() } } ?? true
        return server.startHousekeeping(pause: Int32(clamping: min(idleTime, 10) * 500)) {
            // The end of a request wakes the housekeeping, and so do a lock and the end of the socket.
            guard let last = server.lastUse else { return nil }
            let now = BootClock.system.now()
            guard now >= last + pause else { return last + pause }
            if !provider.holdsUnlockedKeychain || socket?.isReachable == false { kill(getpid(), SIGTERM) }
            return isObserved ? nil : now + pause
        }
    }

    /// Notifies the service manager that connections are still being accepted, twice in each
    /// watchdog interval.
    private func startWatchdog() {
        guard let interval = ServiceManager.watchdogInterval else { return }
        let pause = Int32(clamping: max(1, interval / 2000))
        BackgroundThread.run { [server, end, log] in
            while !end.wait(milliseconds: pause) {
                guard server.isAlive else {
                    log.error("connections are no longer accepted")
                    continue
                }
                _ = try? ServiceManager.notify("WATCHDOG=1")
            }
        }
    }
}
