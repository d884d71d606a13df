// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import Synchronization
import SystemBus
import Testing

/// latchkey-secret-service with a keychain of its own on a private bus, alone or with a latchkeyd. One of the processes
/// is killed again and again.
final class CrashWorld {
    /// The process that is killed.
    enum Victim: String, CaseIterable, CustomTestStringConvertible {
        case service = "latchkey-secret-service"
        case daemon = "latchkeyd"

        var testDescription: String { rawValue }
    }

    private let bus: PrivateBus
    private let directory: TemporaryDirectory
    private let observer: BusConnection
    private let daemon: DaemonProcess?
    private var service: SpawnedProcess

    init(_ victim: Victim) throws {
        bus = try PrivateBus()
        directory = try TemporaryDirectory()
        observer = try BusConnection(to: .custom(bus.address))
        // Without a daemon, its directory has only the keychain.
        daemon = victim == .daemon ? try DaemonProcess(in: directory) : nil
        service = try Self.startService(directory, bus)
        try waitForService()
    }

    struct NotAnswering: Error {}

    // MARK: Changes

    /// Makes changes until the victim is killed. The kill happens a random time after a number of acknowledged changes.
    ///
    /// - Returns: how many changes were acknowledged.
    func change(_ history: inout CrashHistory, killingAfter wanted: Int) throws -> Int {
        let client = SecretClient(try BusConnection(to: .custom(bus.address)))
        let session = try client.openPlain()
        let daemon = daemon
        let victim = daemon?.process ?? service
        let progress = CrashProgress()
        let pause = UInt32.random(in: 0..<(wanted == 0 ? 40_000 : 10_000))
        let isRunning = BackgroundThread.run {
            _ = eventually { progress.count >= wanted || progress.hasEnded }
            usleep(pause)
            // Only the kill may end the changes.
            progress.noteKill()
            kill(victim.processIdentifier, SIGKILL)
            victim.awaitExit()
            // At once, as systemd does: the service waits for it in the middle of a change.
            try? daemon?.start()
            progress.noteEnd()
        }
        try #require(isRunning)
        while !progress.wasKilled {
            let change = history.begin()
            do {
                try Self.make(change, client, session)
            } catch {
                break
            }
            history.acknowledge()
            progress.add()
        }
        progress.end()
        _ = eventually { progress.victimHasEnded }
        #expect(!progress.endedEarly, "a change failed before the process was killed")
        client.bus.close()
        return progress.count
    }

    private static func make(_ change: CrashChange, _ client: SecretClient, _ session: SecretClient.Session) throws {
        switch change.kind {
        case .store, .replace:
            _ = try client.create(
                change.secret, change.attributes, label: "version \(change.version)",
                replacing: change.kind == .replace, session)
        case .delete:
            let item = try #require(try client.search(change.attributes).unlocked.first)
            try client.call(item, "Item", "Delete", returning: [.objectPath])
        }
    }

    // MARK: After the kill

    /// Starts the service if it was killed, and waits until it answers.
    func startAgain() throws {
        if daemon == nil {
            // The bus may not have noticed the end yet.
            _ = eventually { (try? observer.owner(of: SecretClient.name)) == nil }
            service = try Self.startService(directory, bus)
        }
        try waitForService()
    }

    /// Returns the version of each item, and compares its secret and its attributes with those that it was
    /// stored with.
    func items() throws -> [String: Int] {
        let client = SecretClient(try BusConnection(to: .custom(bus.address)))
        defer { client.bus.close() }
        let session = try client.openPlain()
        // Items without attributes as well.
        let all = try client.search([:])
        #expect(all.locked.isEmpty)
        var versions: [String: Int] = [:]
        for path in all.unlocked {
            let attributes: [String: String] = try client.property("Attributes", of: path, "Item")
            let secret = try client.secret(of: path, session).text
            let words = secret.prefix { $0 != ";" }.split(separator: "=").map(String.init)
            guard words.count == 2, let name = words.first, let version = words.last.flatMap({ Int($0) }) else {
                Issue.record("\(path): a secret of \(secret.utf8.count) bytes that was not stored: \(attributes)")
                continue
            }
            #expect(secret == CrashChange.secret(name, version), "\(path)")
            var expected = CrashChange.attributes(name)
            expected["xdg:schema"] = "org.freedesktop.Secret.Generic"
            #expect(attributes == expected, "\(path)")
            #expect(try client.text("Label", of: path, "Item") == "version \(version)", "\(path)")
            #expect(versions.updateValue(version, forKey: name) == nil, "\(name) exists twice")
        }
        return versions
    }

    // MARK: The processes

    private static func startService(_ directory: TemporaryDirectory, _ bus: PrivateBus) throws -> SpawnedProcess {
        let runtime = "\(directory.path)/run"
        mkdir(runtime, 0o700)
        return try SpawnedProcess(
            [Executable.path("latchkey-secret-service")],
            environment: [
                "LATCHKEY_HOME": "\(directory.path)/home", "XDG_RUNTIME_DIR": runtime, "LATCHKEY_NO_DAEMON": "1",
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
                "SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin",
            ], output: "\(directory.path)/service.log")
    }

    /// Waits until the service has its name, and reads from its keychain.
    private func waitForService() throws {
        let client = SecretClient(observer)
        let service = service
        let isReady = eventually {
            !service.isRunning || (try? client.search(["proof": "none"])) != nil
        }
        guard isReady, service.isRunning else { throw NotAnswering() }
    }
}

/// How many changes were acknowledged, and whether they ended before the kill.
private final class CrashProgress: Sendable {
    private struct State {
        var count = 0
        var hasEnded = false
        var endedEarly = false
        var wasKilled = false
        var victimHasEnded = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var endedEarly: Bool { state.withLock { $0.endedEarly } }
    func add() { state.withLock { $0.count += 1 } }
    func end() { state.withLock { $0.hasEnded = true } }
    var wasKilled: Bool { state.withLock { $0.wasKilled } }
    var victimHasEnded: Bool { state.withLock { $0.victimHasEnded } }
    func noteKill() { state.withLock { ($0.endedEarly, $0.wasKilled) = ($0.hasEnded, true) } }
    func noteEnd() { state.withLock { $0.victimHasEnded = true } }
}
