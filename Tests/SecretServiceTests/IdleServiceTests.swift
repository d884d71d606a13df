// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import SystemBus
import Testing

/// What latchkey-secret-service costs while no program asks.
@Suite("Idle Secret Service", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct IdleServiceTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ bus: PrivateBus, home: String, runtime: String, noDaemon: String) throws -> SpawnedProcess {
        try SpawnedProcess(
            [Executable.path("latchkey-secret-service")],
            environment: [
                "LATCHKEY_HOME": home, "XDG_RUNTIME_DIR": runtime, "LATCHKEY_NO_DAEMON": noDaemon,
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
                "SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin",
            ], output: "\(directory.path)/service.log")
    }

    @Test(
        "The service, its daemon and a service without one sleep, also while the daemon is away, and hear of its return"
    )
    func sleeps() throws {
        let daemon = try DaemonProcess()
        let (bus, otherBus) = (try PrivateBus(), try PrivateBus())
        let service = try start(bus, home: daemon.home, runtime: daemon.runtime, noDaemon: "")
        let embedded = try start(otherBus, home: "\(directory.path)/home", runtime: directory.path, noDaemon: "1")
        let clients = try [bus, otherBus].map { SecretClient(try BusConnection(to: .custom($0.address))) }
        // A search makes the service observe the keychain.
        for client in clients { #expect(eventually { (try? client.search([:])) != nil }) }
        var processes = [
            "latchkeyd": daemon.process.processIdentifier, "the service": service.processIdentifier,
            "the service without a daemon": embedded.processIdentifier,
        ]
        #expect(try Rest.restless(processes, in: directory) == nil)
        daemon.stop()
        processes["latchkeyd"] = nil
        #expect(try Rest.restless(processes, in: directory) == nil)
        try daemon.start()
        let added = try daemon.client("latchkey", ["add-generic-password", "-s", "a", "-a", "b", "-w", "x"])
        #expect(added.status == 0)
        #expect(eventually { (try? clients[0].search([:]).unlocked.count) == 1 })
        #expect(service.isRunning && embedded.isRunning)
    }
}
