// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyClient
package import LatchkeyOperations
package import LatchkeyServer
internal import LatchkeyService
internal import LinuxSystem
import Synchronization

/// A daemon's keychain that several programs use. Each caller has its own connections, and the server attributes them
/// to that caller.
package final class RoutedService: KeychainService {
    private let daemon: CurrentServer
    private let services = Mutex<[CallerIdentity: DaemonService]>([:])

    package init(_ server: KeychainServer) {
        daemon = CurrentServer(server)
    }

    /// Stops the daemon, and starts another one. The programs connect to it from now on.
    package func restart(_ start: () throws -> KeychainServer) throws {
        try daemon.server.withLock { server in
            server.stop()
            server = try start()
        }
    }

    /// Returns the service that this program uses.
    package func service(for caller: CallerIdentity) -> DaemonService {
        services.withLock { services in
            if let service = services[caller] { return service }
            let fresh = DaemonService(PairConnector(daemon: daemon, identity: caller)) { caller }
            services[caller] = fresh
            return fresh
        }
    }

    /// The observed state is the same for every program.
    private var anyService: DaemonService {
        service(for: CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true))
    }

    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        try service(for: caller).perform(operation, from: caller, exchange)
    }

    package func unlockAutomatically() { anyService.unlockAutomatically() }

    package func addLockObserver(reportsPresent: Bool, _ body: @escaping @Sendable (LockState?) -> Void) -> Int {
        anyService.addLockObserver(reportsPresent: reportsPresent, body)
    }
    package func removeLockObserver(_ number: Int) { anyService.removeLockObserver(number) }
    package func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        try anyService.addChangeObserver(body)
    }
    package func removeChangeObserver(_ number: Int) { anyService.removeChangeObserver(number) }

    /// Closes the connections of the programs.
    package func closeConnections() {
        for service in services.withLock({ Array($0.values) }) { service.close() }
    }

    /// Closes the connections of the programs, and then stops the daemon.
    package func close() {
        closeConnections()
        daemon.server.withLock { $0.stop() }
    }
}

/// The daemon that runs now.
private final class CurrentServer: Sendable {
    let server: Mutex<KeychainServer>

    init(_ server: KeychainServer) { self.server = Mutex(server) }
}

/// Connects to a server in this process as any program.
private struct PairConnector: DaemonConnector {
    let daemon: CurrentServer
    let identity: CallerIdentity

    func connect() throws(KeychainError) -> Socket {
        do throws(SystemError) {
            let (mine, theirs) = try Socket.pair()
            daemon.server.withLock { $0 }.serve(theirs, as: identity)
            return mine
        } catch {
            throw KeychainError(error)
        }
    }
}
