// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import SystemBus
import Testing

@Suite("Signals of the bus", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct SignalTests {
    private static let interface = "org.example.Test"

    @Test("Signals arrive in the order of sending")
    func order() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let numbers = Received<UInt32>()
        let rule = SignalRule(from: server.uniqueName, Self.interface, "Count", types: [.uint32])
        let subscription = try client.subscribe(to: rule) { signal in
            var content = signal.content
            if let number = try? content.next(UInt32.self) { numbers.append(number) }
        }
        for number in 0..<UInt32(1000) { try server.emit(from: "/a", Self.interface, "Count", [.uint32(number)]) }
        #expect(eventually { numbers.count == 1000 })
        #expect(numbers.all == Array(0..<1000))
        withExtendedLifetime(subscription) {}
    }

    @Test("Only signals of the rule's sender, object, member, first argument and types are received")
    func rules() throws {
        let fixture = try BusFixture()
        let (server, other, client) = (try fixture.connect(), try fixture.connect(), try fixture.connect())
        let received = Received<String>()
        func subscribe(_ label: String, _ rule: SignalRule) throws -> BusRegistration {
            try client.subscribe(to: rule) { received.append("\(label) \($0.path)") }
        }
        let subscriptions = [
            try subscribe("any", SignalRule(from: nil, Self.interface, "A", types: [.string])),
            try subscribe("sender", SignalRule(from: server.uniqueName, Self.interface, "A", types: [.string])),
            try subscribe("object", SignalRule(from: nil, Self.interface, "A", path: .object("/a"), types: [.string])),
            try subscribe("below", SignalRule(from: nil, Self.interface, "A", path: .below("/a"), types: [.string])),
            try subscribe("argument", SignalRule(from: nil, Self.interface, "A", firstArgument: "x", types: [.string])),
            try subscribe("types", SignalRule(from: nil, Self.interface, "A", types: [.uint32])),
            try subscribe("end", SignalRule(from: nil, Self.interface, "End", types: [])),
        ]
        try other.emit(from: "/a", Self.interface, "A", [.string("y")])
        #expect(eventually { received.count == 3 })
        try server.emit(from: "/a/b", Self.interface, "A", [.string("x")])
        #expect(eventually { received.count == 7 })
        try server.emit(from: "/ab", Self.interface, "B", [.string("x")])
        try server.emit(from: "/ab", Self.interface, "A", [.string("y"), .string("more")])
        try server.emit(from: "/ab", Self.interface, "End")
        #expect(eventually { received.all.contains("end /ab") })
        #expect(Set(received.all.prefix(3)) == ["any /a", "object /a", "below /a"])
        #expect(
            Set(received.all.dropFirst(3)) == ["any /a/b", "sender /a/b", "below /a/b", "argument /a/b", "end /ab"])
        withExtendedLifetime(subscriptions) {}
    }

    @Test("Signals under a name come from each of its owners in turn, also from one that appears later")
    func owners() throws {
        let fixture = try BusFixture()
        let (first, second, client) = (try fixture.connect(), try fixture.connect(), try fixture.connect())
        let senders = Received<BusName>()
        let rule = SignalRule(from: "org.example.Name", Self.interface, "A", types: [])
        let subscription = try client.subscribe(to: rule) { senders.append($0.sender) }
        try first.emit(from: "/a", Self.interface, "A")
        for owner in [first, second] {
            // The first owner's release may still be on its way.
            #expect(eventually { (try? client.owner(of: "org.example.Name")) == .some(nil) })
            let name = try owner.own("org.example.Name")
            try owner.emit(from: "/a", Self.interface, "A")
            #expect(eventually { senders.all.last == owner.uniqueName })
            withExtendedLifetime(name) {}
        }
        #expect(senders.all == [first.uniqueName, second.uniqueName])
        withExtendedLifetime(subscription) {}
    }

    @Test("A handler may call methods and subscribe, and a released subscription receives nothing more")
    func handlers() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho()
        let answers = Received<String>()
        let rule = SignalRule(from: nil, Self.interface, "A", types: [])
        var subscription: BusRegistration? = try client.subscribe(to: rule) { [weak client] _ in
            guard let client else { return }
            let nested = try? client.subscribe(to: SignalRule(from: nil, Self.interface, "B", types: [])) { _ in }
            var response = try? client.call(
                server.method("/echo", "Echo"), [.string("from a handler")], returning: [.string])
            if nested != nil, let text = try? response?.next(String.self) { answers.append(text) }
        }
        try server.emit(from: "/a", Self.interface, "A")
        #expect(eventually { answers.all == ["from a handler"] })
        withExtendedLifetime(subscription) {}
        subscription = nil
        try server.emit(from: "/a", Self.interface, "A")
        let end = Received<Bool>()
        let last = try client.subscribe(to: SignalRule(from: nil, Self.interface, "End", types: [])) { _ in
            end.append(true)
        }
        try server.emit(from: "/a", Self.interface, "End")
        #expect(eventually { end.count == 1 })
        #expect(answers.count == 1)
        withExtendedLifetime((echo, last)) {}
    }

    @Test("A rule that the bus cannot have is refused", arguments: ["no interface", "a'b", "", "org..example"])
    func invalidRules(_ interface: String) throws {
        let client = try BusFixture().connect()
        #expect(throws: BusError.self) {
            try client.subscribe(to: SignalRule(from: nil, interface, "A", types: [])) { _ in }
        }
        #expect(throws: BusError.self) {
            try client.subscribe(to: SignalRule(from: nil, Self.interface, "A'", types: [])) { _ in }
        }
        #expect(throws: BusError.self) {
            try client.subscribe(to: SignalRule(from: nil, Self.interface, "A", firstArgument: "',path='/", types: []))
            { _ in }
        }
    }

    @Test("Events that wait for a slow handler are limited: the connection ends, so that no event is lost unseen")
    func overflow() throws {
        let fixture = try BusFixture()
        var limits = BusLimits()
        limits.maxQueuedEvents = 10
        let ended = EventCount()
        let server = try fixture.connect()
        let client = try fixture.connect(limits) { ended.increase() }
        let started = EventCount()
        let rule = SignalRule(from: nil, Self.interface, "A", types: [])
        let subscription = try client.subscribe(to: rule) { [weak client] _ in
            started.increase()
            _ = eventually { client?.isOpen != true }
        }
        for _ in 0..<20 { try server.emit(from: "/a", Self.interface, "A") }
        #expect(eventually { ended.value == 1 })
        #expect(!client.isOpen && started.value <= 11)
        withExtendedLifetime(subscription) {}
    }
}
