// SPDX-License-Identifier: Apache-2.0

public import LatchkeyServer
public import LinuxSystem
public import Logging
internal import Synchronization
public import SystemBus

/// Reports the events of logind about the sessions of users and about the sleep of the machine, from its start to
/// ``stop()``, also if the bus or logind starts later or starts again.
///
/// - A session is locked: by a request (`loginctl lock-session`), or by the desktop. Unlocking a
///   session is not reported: only the passcode unlocks a keychain.
/// - The machine is about to sleep. It waits until this and earlier events were handled; earlier
///   ones do not delay this one.
/// - The last session of a user has ended. A session with running processes has not ended.
public final class LoginMonitor: Sendable {
    private let address: BusAddress
    private let user: UInt32?
    private let retry: ConnectionRetry
    private let log: Logger
    private let handler: @Sendable (SessionEvent, UInt32?) -> Void
    private let table = LoginTable()
    private let wake: WakeSignal
    private let isStopping = Atomic(false)

    /// - Parameters:
    ///   - user: the only user to report events of; nil for all users.
    ///   - retryMilliseconds: how long to wait after the first attempts to connect to the bus. Then the
    ///     next one follows when the bus has a socket again.
    ///   - handler: handles an event before it returns. Its second argument is the user of the keychain that the event
    ///     concerns; nil for all users. Sleep can be reported while another thread handles another event.
    public init(
        address: BusAddress = .system, user: UInt32?, retryMilliseconds: Int32 = 1000, log: Logger,
        handler: @escaping @Sendable (SessionEvent, UInt32?) -> Void
    ) throws(SystemError) {
        self.address = address
        self.user = user
        retry = ConnectionRetry(path: address.socketPath, milliseconds: retryMilliseconds)
        self.log = log
        self.handler = handler
        wake = try WakeSignal()
    }

    /// Starts the thread that connects to the bus.
    ///
    /// - Returns: false if the system cannot create a thread.
    public func start() -> Bool { BackgroundThread.run { [self] in run() } }

    /// Ends the connection. An event that is being handled is not interrupted.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.raise()
    }

    private func run() {
        var isReported = false
        while !isStopping.load(ordering: .acquiring) {
            do throws(BusError) {
                try observe()
                isReported = false
            } catch {
                if !isReported {
                    log.notice(
                        "the system bus cannot be used; the keychain does not lock with the session",
                        metadata: ["reason": "\(error.description)"])
                }
                isReported = true
            }
            if !isStopping.load(ordering: .acquiring) { retry.wait(or: wake) }
        }
    }

    /// Observes logind until the connection ends.
    private func observe() throws(BusError) {
        let bus = try BusConnection(to: address) { [wake] in wake.raise() }
        defer { bus.close() }
        let observer = try LoginObserver(bus, user: user, table: table, log: log, handler: handler)
        defer { observer.stop() }
        try observer.start()
        retry.reset()
        while bus.isOpen, !isStopping.load(ordering: .acquiring) { wake.wait(milliseconds: -1) }
        if !isStopping.load(ordering: .acquiring) { log.notice("the connection to the system bus has ended") }
    }
}
