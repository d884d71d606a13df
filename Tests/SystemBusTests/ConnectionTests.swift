// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import SystemBus
import Testing

@Suite("Connections to a bus", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct ConnectionTests {
    @Test("Many threads call methods on one connection at the same time")
    func concurrency() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho()
        let method = server.method("/echo", "Echo")
        let calls = (0..<16).map { thread in
            BackgroundCall {
                for number in 0..<50 {
                    let text = "\(thread) \(number)"
                    var response = try client.call(
                        method, [.string(text)], returning: [.string], timeout: .seconds(600))
                    guard try response.next(String.self) == text else { throw BusFailure.failed("another answer") }
                }
            }
        }
        for call in calls { #expect(call.succeeds()) }
        withExtendedLifetime((echo, server)) {}
    }

    @Test("The listening user of a bus is the one that the kernel reports")
    func listeningUser() throws {
        let fixture = try BusFixture()
        let connection = try fixture.connect()
        #expect(try connection.listeningUser() == geteuid())
        connection.close()
        // Requests from before the end are still answered.
        #expect(eventually { (try? connection.listeningUser()) == nil })
        #expect(throws: BusError.disconnected) { try connection.listeningUser() }
    }

    @Test("An error of a peer arrives with its name and its printable text")
    func errors() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let object = try server.export(at: "/a") {
            $0.fail(BusFailure("org.example.Error.Locked", "is \u{1b}[31mlocked"))
        }
        #expect(throws: BusError.remote(BusFailure("org.example.Error.Locked", #"is \x1b[31mlocked"#))) {
            try client.call(server.method("/a", "Read"))
        }
        let missing = error { try client.call(BusMethod("org.example.Missing", "/a", "org.example.Test", "Read")) }
        guard case .remote(let failure)? = missing else {
            Issue.record("\(String(describing: missing))")
            return
        }
        #expect(failure.name == "org.freedesktop.DBus.Error.ServiceUnknown")
        for invalid in [
            BusMethod("org.example.Test", "/a", "no interface", "Read"),
            BusMethod("org.example.Test", "/a", "org.example.Test", "a.b"),
        ] {
            guard case .invalid? = error(of: { try client.call(invalid) }) else {
                Issue.record("\(invalid)")
                continue
            }
        }
        withExtendedLifetime(object) {}
    }

    @Test("The end of the bus ends calls and the connection; a new connection serves the user again")
    func busEnds() throws {
        let directory = try TemporaryDirectory()
        let bus = try PrivateBus(in: directory)
        let ended = EventCount()
        let client = try BusConnection(to: .custom(bus.address)) { ended.increase() }
        let server = try BusConnection(to: .custom(bus.address))
        let held = Received<BusMethodCall>()
        let object = try server.export(at: "/a") { held.append($0) }
        let method = server.method("/a", "Wait")
        let calls = (0..<4).map { _ in BackgroundCall { try client.call(method, timeout: .seconds(600)) } }
        #expect(eventually { held.count == 4 })
        bus.stop()
        for call in calls { #expect(!call.succeeds()) }
        #expect(eventually { ended.value == 1 && !client.isOpen && !server.isOpen })
        #expect(throws: BusError.disconnected) { try client.call(method) }
        #expect(throws: BusError.disconnected) { try client.emit(from: "/a", "org.example.Test", "A") }
        #expect(throws: BusError.disconnected) { try client.export(at: "/a") { _ in } }
        #expect(throws: BusError.disconnected) {
            try client.subscribe(to: SignalRule(from: nil, "org.example.Test", "A", types: [])) { _ in }
        }
        guard case .cannotConnect? = error(of: { _ = try BusConnection(to: .custom(bus.address)) }) else {
            Issue.record("the bus has ended")
            return
        }
        let next = try PrivateBus(in: directory)
        let again = try BusConnection(to: .custom(next.address))
        #expect(try again.owner(of: again.uniqueName) == again.uniqueName)
        withExtendedLifetime(object) {}
    }

    @Test("Closing sends the queue, ends other threads' calls, and is reported once")
    func close() throws {
        let fixture = try BusFixture()
        let ended = EventCount()
        let server = try fixture.connect()
        let client = try fixture.connect { ended.increase() }
        let calls = Received<String>()
        let held = Received<BusMethodCall>()
        let object = try server.export(at: "/a") { call in
            calls.append(call.member)
            held.append(call)
        }
        let waiting = BackgroundCall { try client.call(server.method("/a", "Wait"), timeout: .seconds(600)) }
        #expect(eventually { calls.count == 1 })
        let signals = Received<Bool>()
        let subscription = try server.subscribe(to: SignalRule(from: nil, "org.example.Test", "A", types: [])) { _ in
            signals.append(true)
        }
        try client.emit(from: "/a", "org.example.Test", "A")
        client.close()
        client.close()
        #expect(!waiting.succeeds())
        #expect(eventually { signals.count == 1 && ended.value == 1 })
        withExtendedLifetime((object, subscription)) {}
    }

    @Test("A released connection ends, with its threads and descriptors")
    func release() throws {
        let fixture = try BusFixture()
        let ended = EventCount()
        func use() throws {
            let server = try fixture.connect { ended.increase() }
            let client = try fixture.connect { ended.increase() }
            let echo = try server.exportEcho()
            let name = try server.own("org.example.Test")
            try client.call(server.method("/echo", "Echo"), [])
            withExtendedLifetime((echo, name)) {}
        }
        for round in 1...5 {
            try use()
            #expect(eventually { ended.value == 2 * round })
        }
    }

    @Test(
        "An address that no bus has is an error that names it",
        arguments: ["unix:path=/nonexistent/bus", "nonsense", ""])
    func address(_ address: String) {
        guard case .cannotConnect(let name, _)? = error(of: { _ = try BusConnection(to: .custom(address)) }) else {
            Issue.record("\(address)")
            return
        }
        #expect(name.contains(address))
    }
}
