// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import SecretService
import SystemBus
import Testing

@Suite("Secrets of the portal", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct PortalTests {
    private static func retrieve(
        _ client: SecretClient, _ application: String,
        _ handle: ObjectPath = "/org/freedesktop/portal/desktop/request/1"
    ) throws -> (response: UInt32, bytes: [UInt8]) {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        // A FIFO that is open for both does not wait for the other end.
        let reading = try OwnedDescriptor(opening: path, flags: O_RDWR | O_NONBLOCK)
        let writing = BusDescriptor(try OwnedDescriptor(opening: path, flags: O_WRONLY))
        var answer = try client.bus.call(
            BusMethod(
                "org.freedesktop.impl.portal.desktop.latchkey", "/org/freedesktop/portal/desktop",
                "org.freedesktop.impl.portal.Secret", "RetrieveSecret"),
            [.objectPath(handle), .string(application), .descriptor(writing), [String: BusVariant]().busValue],
            returning: [.uint32, .properties], timeout: .seconds(600))
        let response = try answer.next(UInt32.self)
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(reading.rawValue, &bytes, bytes.count)
        return (response, Array(bytes.prefix(max(0, count))))
    }

    @Test("Each application gets 64 bytes, always the same, and others than another one")
    func secrets() throws {
        let world = try SecretWorld()
        let client = try world.client()
        let first = try Self.retrieve(client, "org.example.App")
        #expect(first.response == 0 && first.bytes.count == 64)
        #expect(try Self.retrieve(client, "org.example.App").bytes == first.bytes)
        #expect(try Self.retrieve(client, "org.example.Other").bytes != first.bytes)
        #expect(
            errorName { _ = try Self.retrieve(client, "org.example.App", "/org/freedesktop/secrets/x") }
                == "InvalidArgs")
        let version: UInt32 = try client.bus.property(
            "version", of: "org.freedesktop.impl.portal.Secret", at: "/org/freedesktop/portal/desktop",
            "org.freedesktop.impl.portal.desktop.latchkey")
        #expect(version == 1)
    }

    @Test("A locked keychain is unlocked first; a cancelled prompt is a cancelled request")
    func locked() throws {
        let world = try SecretWorld(passcode: "1234", person: TestPerson([nil, "1234"]))
        let client = try world.client()
        try world.store.lock(.login)
        #expect(try Self.retrieve(client, "org.example.App").response == 1)
        #expect(try Self.retrieve(client, "org.example.App").bytes.count == 64)
        #expect(world.person.questions.last?.program.executable == "org.example.App")
    }

    @Test("The group of an application is that of its sandbox")
    func groups() throws {
        #expect(ApplicationID("org.example.App")?.accessGroup == "flatpak.org.example.App")
        #expect(ApplicationID("snap.example")?.accessGroup == "snap.example")
        #expect(ApplicationID("snap.2048-game_beta")?.accessGroup == "snap.2048-game_beta")
        #expect(ApplicationID("org.example._2a.App-x")?.text == "org.example._2a.App-x")
    }

    @Test(
        "An identifier that no application has is refused, and makes no secret",
        arguments: [
            "", ".", "..", "...", "a", "a.", ".a", "a..b", "org.example.", "../x", "a/b", "org/example", ":1.2",
            "org.example.2048", "2.a", "org.example.App ", "org.example.\u{E4}", "org.example\n.App", "snap.",
            "snap.a.b",
            "snap..", "snap. a", "org." + String(repeating: "a", count: 252),
        ])
    func invalidApplications(_ text: String) throws {
        #expect(ApplicationID(text) == nil)
        let world = try SecretWorld()
        let client = try world.client()
        #expect(errorName { _ = try Self.retrieve(client, text) } == "InvalidArgs")
    }

    @Test("A program that never reads its secrets leaves requests for another one")
    func manyRequests() throws {
        let world = try SecretWorld(passcode: "1234", person: TestPerson(waits: true))
        try world.store.lock(.login)
        let client = try world.client()
        let method = BusMethod(
            "org.freedesktop.impl.portal.desktop.latchkey", "/org/freedesktop/portal/desktop",
            "org.freedesktop.impl.portal.Secret", "RetrieveSecret")
        let directory = try TemporaryDirectory()
        #expect(mkfifo("\(directory.path)/pipe", 0o600) == 0)
        // Each waits for the person, until the connection ends.
        let waiting = SystemMutex(0)
        let refused = SystemMutex(0)
        for number in 0..<33 {
            let handle = try ObjectPath(validating: "/org/freedesktop/portal/desktop/request/\(number)")
            let pipe = BusDescriptor(try OwnedDescriptor(opening: "\(directory.path)/pipe", flags: O_RDWR))
            BackgroundThread.run {
                waiting.withLock { $0 += 1 }
                let name = errorName {
                    try client.bus.call(
                        method,
                        [
                            .objectPath(handle), .string("org.example.App"), .descriptor(pipe),
                            [String: BusVariant]().busValue,
                        ], returning: [.uint32, .properties], timeout: .seconds(600))
                }
                if name == "LimitsExceeded" { refused.withLock { $0 += 1 } }
            }
        }
        // Half of the 64 requests that there are.
        #expect(eventually { waiting.withLock { $0 } == 33 && refused.withLock { $0 } == 1 })
        client.bus.close()
    }
}
