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
        #expect(try Self.retrieve(client, "").bytes.count == 64)
        #expect(errorName { _ = try Self.retrieve(client, "../x") } == "InvalidArgs")
        #expect(errorName { _ = try Self.retrieve(client, "a", "/org/freedesktop/secrets/x") } == "InvalidArgs")
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
        #expect(ApplicationID("")?.accessGroup == "latchkey.shared")
        #expect(ApplicationID("a/b") == nil && ApplicationID(String(repeating: "a", count: 256)) == nil)
    }
}
