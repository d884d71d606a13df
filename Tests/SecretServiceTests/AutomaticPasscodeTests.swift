// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
@testable import SecretService
import SystemBus
import Testing

/// latchkey-secret-service, or the daemon that it uses, with the passcode in a file.
@Suite(
    "The automatic passcode of the Secret Service", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed")
)
struct AutomaticPasscodeTests {
    /// The process that has the passcode, and the source of the passcode.
    enum Source: CaseIterable { case file, credential, fileBesideDaemon, credentialOfDaemon }

    /// The first call of a program. It is answered before anything has needed an item.
    enum FirstCall: CaseIterable { case collection, search, item, secret, unlock }

    /// A locked keychain with one item, and a service that has just been started.
    private final class World {
        let client: SecretClient
        let item: ObjectPath
        private let directory: TemporaryDirectory
        private let bus: PrivateBus
        private let daemon: DaemonProcess?
        private let service: SpawnedProcess

        init(_ source: Source, passcode: String = "correct horse battery") throws {
            let directory = try TemporaryDirectory()
            self.directory = directory
            bus = try PrivateBus()
            let (right, given) = ("\(directory.path)/right", "\(directory.path)/latchkey.passcode")
            for (file, text) in [(right, "correct horse battery"), (given, passcode)] {
                try Data("\(text)\n".utf8).write(to: URL(filePath: file))
                chmod(file, 0o600)
            }
            item = try Self.prepare("\(directory.path)/home", right)
            var environment = [
                "LATCHKEY_HOME": "\(directory.path)/home", "XDG_RUNTIME_DIR": "\(directory.path)/run",
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin",
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
            ]
            let isCredential = source == .credential || source == .credentialOfDaemon
            let named = isCredential ? ["CREDENTIALS_DIRECTORY": directory.path] : ["LATCHKEY_PASSCODE_FILE": given]
            switch source {
            case .file, .credential:
                daemon = nil
                environment["LATCHKEY_NO_DAEMON"] = "1"
                environment.merge(named) { $1 }
            case .fileBesideDaemon:
                daemon = try DaemonProcess(in: directory)
                environment.merge(named) { $1 }
            case .credentialOfDaemon: daemon = try DaemonProcess(environment: named, in: directory)
            }
            mkdir("\(directory.path)/run", 0o700)
            service = try SpawnedProcess(
                [Executable.path("latchkey-secret-service")], environment: environment, output: "\(directory.path)/log")
            client = SecretClient(try BusConnection(to: .custom(bus.address)))
            let (service, connection) = (service, client.bus)
            let isRunning = eventually {
                (try? connection.owner(of: SecretClient.name)) != nil || !service.isRunning
            }
            try #require(isRunning && service.isRunning, "\(logText)")
        }

        var logText: String { (try? String(contentsOfFile: "\(directory.path)/log", encoding: .utf8)) ?? "" }

        deinit {
            client.bus.close()
            service.stop(signal: SIGTERM)
            daemon?.stop()
        }

        /// Makes the keychain, stores an item, and returns the path that the item has.
        private static func prepare(_ home: String, _ file: String) throws -> ObjectPath {
            func run(_ words: String...) throws {
                let outcome = try Executable.run("latchkey", words, home: home)
                try #require(outcome.status == 0, "\(outcome)")
            }
            try run("passcode", "set", "--passcode-file", file)
            try run("add-generic-password", "--passcode-file", file, "-s", "example.com", "-a", "alice", "-w", "s3cret")
            let bus = try PrivateBus()
            let service = try SpawnedProcess(
                [Executable.path("latchkey-secret-service")],
                environment: [
                    "LATCHKEY_HOME": home, "LATCHKEY_NO_DAEMON": "1", "DBUS_SESSION_BUS_ADDRESS": bus.address,
                    "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
                ], output: "/dev/null")
            defer { service.stop(signal: SIGTERM) }
            let client = SecretClient(try BusConnection(to: .custom(bus.address)))
            defer { client.bus.close() }
            _ = eventually { (try? client.bus.owner(of: SecretClient.name)) != nil || !service.isRunning }
            // Without the passcode the item is locked.
            return try #require(try client.search(["service": "example.com"]).locked.first)
        }
    }

    private static func isLocked(_ world: World) throws -> Bool {
        try world.client.property("Locked", of: SecretClient.login, "Collection")
    }

    private static func make(_ call: FirstCall, _ world: World) throws {
        let (client, item) = (world.client, world.item)
        switch call {
        case .collection: #expect(try !isLocked(world))
        case .search:
            let found = try client.search(["service": "example.com"])
            #expect(found.unlocked == [item] && found.locked.isEmpty)
        case .item:
            let isLocked: Bool = try client.property("Locked", of: item, "Item")
            #expect(!isLocked)
            let attributes: [String: String] = try client.property("Attributes", of: item, "Item")
            #expect(attributes["service"] == "example.com")
        case .secret: #expect(try client.secret(of: item, try client.openPlain()).text == "s3cret")
        case .unlock:
            var answer = try client.call(
                SecretClient.service, "Service", "Unlock", [[item, SecretClient.login].busValue],
                returning: [.paths, .objectPath])
            #expect(try answer.next([ObjectPath].self) == [item, SecretClient.login])
            #expect(try answer.next(ObjectPath.self) == "/")
        }
    }

    @Test(
        "SECS-18: the passcode is tried before anything is called locked, with any first call", .long,
        arguments: FirstCall.allCases)
    func firstCalls(_ call: FirstCall) throws {
        let world = try World(.file)
        try Self.make(call, world)
        for other in FirstCall.allCases { try Self.make(other, world) }
    }

    @Test(
        "SECS-18: the passcode of each source is tried, and an explicit lock stays", .long, arguments: Source.allCases)
    func sources(_ source: Source) throws {
        let world = try World(source)
        for call in [.search] + FirstCall.allCases { try Self.make(call, world) }
        var answer = try world.client.call(
            SecretClient.service, "Service", "Lock", [[SecretClient.login].busValue], returning: [.paths, .objectPath])
        #expect(try answer.next([ObjectPath].self) == [SecretClient.login])
        #expect(try Self.isLocked(world))
        #expect(try world.client.search(["service": "example.com"]).locked == [world.item])
        #expect(errorName { _ = try world.client.secret(of: world.item, try world.client.openPlain()) } == "IsLocked")
    }

    @Test(
        "SECS-18: a wrong passcode leaves the keychain locked, is tried once, and is logged once", .long,
        arguments: [Source.file, .credentialOfDaemon])
    func wrong(_ source: Source) throws {
        let world = try World(source, passcode: "another passcode")
        for _ in 0..<3 {
            #expect(try Self.isLocked(world))
            #expect(try world.client.search(["service": "example.com"]).locked == [world.item])
        }
        guard source == .file else { return }
        #expect(world.logText.components(separatedBy: "was not unlocked automatically").count == 2, "\(world.logText)")
    }
}
