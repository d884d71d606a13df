// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
@testable import SystemBus
import Testing

@Suite("Hostile peers on the bus", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct HostilePeerTests {
    @Test("A response of other types than expected is an error that names both")
    func wrongTypes() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho()
        let method = server.method("/echo", "Echo")
        #expect(throws: BusError.unexpected(expected: "'s'", found: "'u'")) {
            try client.call(method, [.uint32(1)], returning: [.string])
        }
        #expect(throws: BusError.unexpected(expected: "''", found: "'s'")) { try client.call(method, [.string("")]) }
        withExtendedLifetime((echo, server)) {}
    }

    static func nested(_ depth: Int) -> BusValue {
        (0..<depth).reduce(.byte(1)) { value, _ in .variant(value) }
    }

    @Test(
        "A message that exceeds a limit is refused by its receiver, and the connection goes on",
        arguments: [
            ("1000 values", .array(of: .boolean, Array(repeating: .boolean(true), count: 1000))),
            ("1000 bytes", .bytes(Array(repeating: 1, count: 1001))),
            (
                "1000 bytes",
                .array(of: .string, Array(repeating: .string(String(repeating: "x", count: 100)), count: 11))
            ),
            ("5 levels", nested(6)),
        ] as [(String, BusValue)])
    func limits(_ limit: String, _ value: BusValue) throws {
        let fixture = try BusFixture()
        var limits = BusLimits()
        (limits.maxValues, limits.maxBytes, limits.maxDepth) = (1000, 1000, 5)
        let (server, client) = (try fixture.connect(), try fixture.connect(limits))
        // The client sends little, and receives much.
        let object = try server.export(at: "/large") { $0.answer([value]) }
        let echo = try client.exportEcho()
        let received = error { try client.call(server.method("/large", "Get"), returning: [value.type]) }
        guard case .limitExceeded(let text)? = received else {
            Issue.record("\(String(describing: received))")
            return
        }
        #expect(text.hasPrefix(limit))
        let refused = error { try server.call(client.method("/echo", "Echo"), [value], returning: [value.type]) }
        guard case .remote(let failure)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(failure.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        #expect(throws: BusError.self) { try client.call(server.method("/large", "Get"), [value]) }
        #expect(try server.call(client.method("/echo", "Echo"), [.byte(1)], returning: [.byte]).remaining == [.byte(1)])
        withExtendedLifetime((object, echo)) {}
    }

    @Test(
        "Nesting up to the largest limit arrives; deeper nesting is not sent, because the bus would end the connection")
    func deepNesting() throws {
        let fixture = try BusFixture()
        var limits = BusLimits()
        limits.maxDepth = 1000
        let (server, client) = (try fixture.connect(limits), try fixture.connect(limits))
        let echo = try server.exportEcho()
        let method = server.method("/echo", "Echo")
        #expect(try client.call(method, [Self.nested(60)], returning: [.variant]).remaining == [Self.nested(60)])
        for depth in [61, 65, 500] {
            #expect(throws: BusError.limitExceeded("60 levels of nesting")) {
                try client.call(method, [Self.nested(depth)], returning: [.variant])
            }
        }
        #expect(client.isOpen)
        withExtendedLifetime((echo, server)) {}
    }

    @Test("A peer that does not answer ends the call at its timeout; a late answer is ignored")
    func timeout() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let held = Received<BusMethodCall>()
        let object = try server.export(at: "/silent") { held.append($0) }
        let method = server.method("/silent", "Wait")
        #expect(throws: BusError.timeout(method: "org.example.Test.Wait")) {
            try client.call(method, timeout: .milliseconds(20))
        }
        #expect(eventually { held.count == 1 })
        for call in held.all { call.answer([.string("late")]) }
        let echo = try server.exportEcho()
        #expect(try client.call(server.method("/echo", "Echo"), [.byte(1)], returning: [.byte]).remaining == [.byte(1)])
        withExtendedLifetime((object, echo)) {}
    }

    @Test("Answers wait behind a few messages of other peers, and behind one that takes long to decode")
    func turns() {
        let start: UInt64 = 7
        var short = MessageTurn(at: start)
        let goesOn = (0..<MessageTurn.maxCount).map { _ in short.goesOn(at: start) }
        #expect(goesOn == Array(repeating: true, count: MessageTurn.maxCount - 1) + [false])
        var long = MessageTurn(at: start)
        let times = [MessageTurn.maxTime - 1, MessageTurn.maxTime].map { long.goesOn(at: start + $0) }
        #expect(times == [true, false])
    }

    @Test("A peer that disconnects during a call ends it with an error")
    func disconnectingPeer() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let object = try server.export(at: "/silent") { [weak server] call in
            server?.close()
            _ = eventually { server?.isOpen != true }
            withExtendedLifetime(call) {}
        }
        let problem = error { try client.call(server.method("/silent", "Wait"), timeout: .seconds(600)) }
        guard case .remote(let failure)? = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(
            ["org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Failed"].contains(failure.name),
            "\(failure)")
        #expect(client.isOpen)
        withExtendedLifetime(object) {}
    }

    @Test("A signal that a peer sends directly is not taken for one of the name's owner")
    func forgedSignals() throws {
        let fixture = try BusFixture()
        let (server, client, hostile) = (try fixture.connect(), try fixture.connect(), try fixture.connect())
        let name = try server.own("org.example.Login")
        let rule = SignalRule(
            from: "org.example.Login", "org.example.Manager", "Sleep", path: .object("/login"), types: [.boolean])
        let received = Received<BusName>()
        let subscription = try client.subscribe(to: rule) { received.append($0.sender) }
        for _ in 0..<10 {
            try hostile.emit(from: "/login", "org.example.Manager", "Sleep", [.boolean(true)], to: client.uniqueName)
            try hostile.emit(from: "/login", "org.example.Manager", "Sleep", [.boolean(true)])
        }
        // The bus passes the messages on in the order of their arrival; the answer shows that it has received the
        // forged ones.
        #expect(try hostile.owner(of: "org.example.Login") == server.uniqueName)
        try server.emit(from: "/login", "org.example.Manager", "Sleep", [.boolean(true)])
        #expect(eventually { received.count > 0 })
        #expect(received.all == [server.uniqueName])
        withExtendedLifetime((name, subscription)) {}
    }

    @Test("A peer cannot send the signals of the bus itself")
    func forgedOwner() throws {
        let fixture = try BusFixture()
        let (server, client, hostile) = (try fixture.connect(), try fixture.connect(), try fixture.connect())
        let name = try server.own("org.example.Login")
        let owners = Received<BusName?>()
        let observer = try client.observeOwner(of: "org.example.Login") { owners.append($0) }
        let signals = Received<BusName>()
        let rule = SignalRule(from: "org.example.Login", "org.example.Manager", "Sleep", types: [])
        let subscription = try client.subscribe(to: rule) { signals.append($0.sender) }
        try hostile.emit(
            from: "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
            [.string("org.example.Login"), .string(server.uniqueName.text), .string(hostile.uniqueName.text)],
            to: client.uniqueName)
        try hostile.emit(from: "/login", "org.example.Manager", "Sleep", to: client.uniqueName)
        _ = try hostile.owner(of: "org.example.Login")
        try server.emit(from: "/login", "org.example.Manager", "Sleep")
        #expect(eventually { signals.count > 0 })
        #expect(signals.all == [server.uniqueName] && owners.all.isEmpty)
        withExtendedLifetime((name, observer, subscription)) {}
    }

    @Test(
        "A server that is not a bus ends the attempt to connect", arguments: ["", "nonsense\r\n", "OK 00\r\nAGREE\r\n"])
    func notABus(_ greeting: String) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/socket"
        let listener = try Socket(listeningAt: path, permissions: 0o600)
        let stop = try StopSignal()
        BackgroundThread.run {
            guard let socket = try? listener.accept(until: stop) else { return }
            _ = Array(greeting.utf8).withUnsafeBytes { try? socket.send($0) }
            // An empty greeting stands for a server that never answers.
            while greeting.isEmpty, !stop.wait(milliseconds: 1000) {}
            withExtendedLifetime(socket) {}
        }
        #expect(throws: BusError.self) {
            try BusConnection(to: .custom("unix:path=\(path)"), timeout: .milliseconds(200))
        }
        stop.raise()
    }
}
