// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import SystemBus
import Testing

/// The cost of latchkey-secret-service while no program asks.
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
        try Rest.requireSleep(processes, in: directory)
        daemon.stop()
        processes["latchkeyd"] = nil
        try Rest.requireSleep(processes, in: directory)
        try daemon.start()
        let added = try daemon.client("latchkey", ["add-generic-password", "-s", "a", "-a", "b", "-w", "x"])
        #expect(added.status == 0)
        #expect(eventually { (try? clients[0].search([:]).unlocked.count) == 1 })
        #expect(service.isRunning && embedded.isRunning)
    }

    @Test("`latchkey session`, its bus and its service sleep while the command waits")
    func session() throws {
        let input = "\(directory.path)/input"
        #expect(mkfifo(input, 0o600) == 0)
        let session = try SpawnedProcess(
            [Executable.path("latchkey"), "session", "--", "/bin/cat", input],
            environment: [
                "LATCHKEY_HOME": "\(directory.path)/home", "XDG_RUNTIME_DIR": directory.path, "LATCHKEY_NO_DAEMON": "1",
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "SWIFT_BACKTRACE": "enable=no",
                "PATH": "/usr/bin:/bin",
            ], output: "\(directory.path)/session.log")
        // The bus, the service and the command.
        #expect(eventually { ProcessTable.children(of: session.processIdentifier).count == 3 || !session.isRunning })
        var processes = ["latchkey session": session.processIdentifier]
        for child in ProcessTable.children(of: session.processIdentifier) { processes["child \(child)"] = child }
        #expect(processes.count == 4)
        try Rest.requireSleep(processes, in: directory)
        // The command reads the end of its input.
        let writer = open(input, O_WRONLY)
        #expect(writer >= 0 && close(writer) == 0)
        #expect(session.awaitExit() == 0)
    }
}
