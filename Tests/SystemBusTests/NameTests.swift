// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import SystemBus
import Testing

@Suite("Names on the bus", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct NameTests {
    private static let name: BusName = "org.example.Test"

    @Test("A name has one owner until the owner releases it")
    func owner() throws {
        let fixture = try BusFixture()
        let (first, second) = (try fixture.connect(), try fixture.connect())
        #expect(try first.owner(of: Self.name) == nil)
        var owned: BusRegistration? = try first.own(Self.name)
        #expect(try second.owner(of: Self.name) == first.uniqueName)
        #expect(throws: BusError.nameTaken(Self.name)) { try second.own(Self.name) }
        #expect(throws: BusError.nameTaken(Self.name)) { try second.own(Self.name, replacing: true) }
        withExtendedLifetime(owned) {}
        owned = nil
        #expect(eventually { (try? second.owner(of: Self.name)) == .some(nil) })
        let next = try second.own(Self.name)
        #expect(try first.owner(of: Self.name) == second.uniqueName)
        withExtendedLifetime(next) {}
    }

    @Test("An owner that allows it loses the name to another connection, and is told")
    func lost() throws {
        let fixture = try BusFixture()
        let (first, second) = (try fixture.connect(), try fixture.connect())
        let lost = EventCount()
        let owned = try first.own(Self.name, allowsReplacement: true) { lost.increase() }
        let taken = try second.own(Self.name, replacing: true)
        #expect(eventually { lost.value == 1 })
        #expect(try first.owner(of: Self.name) == second.uniqueName)
        withExtendedLifetime((owned, taken)) {}
    }

    @Test("Changes of a name's owner are reported, also when the owner's connection ends")
    func changes() throws {
        let fixture = try BusFixture()
        let (first, second, client) = (try fixture.connect(), try fixture.connect(), try fixture.connect())
        let owners = Received<BusName?>()
        let observer = try client.observeOwner(of: Self.name) { owners.append($0) }
        let owned = try first.own(Self.name)
        #expect(eventually { owners.count == 1 })
        first.close()
        #expect(eventually { owners.count == 2 })
        let next = try second.own(Self.name)
        #expect(eventually { owners.count == 3 })
        #expect(owners.all == [first.uniqueName, nil, second.uniqueName])
        withExtendedLifetime((observer, owned, next)) {}
    }

    @Test("The user and the process behind a name are those of its connection")
    func peer() throws {
        let fixture = try BusFixture()
        let (first, second) = (try fixture.connect(), try fixture.connect())
        let owned = try first.own(Self.name)
        let peer = try second.peer(Self.name)
        #expect(peer.user == geteuid())
        #expect(peer.process == nil || peer.process == getpid())
        #expect(try second.peer(first.uniqueName) == peer)
        #expect(throws: BusError.self) { try second.peer("org.example.Missing") }
        withExtendedLifetime(owned) {}
    }

    @Test("Properties of an object are read and set with their types")
    func properties() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let locked = Received<Bool>()
        let object = try server.export(at: "/item") { call in
            switch call.propertyRequest {
            case .get("org.example.Item", "Locked"): call.answer([.variant(.boolean(locked.all.last ?? true))])
            case .getAll("org.example.Item"): call.answer([["Locked": BusVariant(locked.all.last ?? true)].busValue])
            case .set("org.example.Item", "Locked", .boolean(let value)):
                locked.append(value)
                call.answer()
            case .set: call.fail(.invalidArguments("Locked is a Boolean"))
            default: call.fail(.unknownProperty("there is no such property"))
            }
        }
        let (interface, path, peer) = ("org.example.Item", ObjectPath("/item"), server.uniqueName)
        #expect(try client.property("Locked", of: interface, at: path, peer, as: Bool.self))
        try client.setProperty("Locked", of: interface, at: path, peer, to: false)
        #expect(try client.properties(of: interface, at: path, peer)["Locked"]?.content(as: Bool.self) == false)
        #expect(throws: BusError.unexpected(expected: "Locked of 's'", found: "'b'")) {
            try client.property("Locked", of: interface, at: path, peer, as: String.self)
        }
        #expect(throws: BusError.self) { try client.property("Label", of: interface, at: path, peer, as: String.self) }
        #expect(throws: BusError.self) { try client.setProperty("Locked", of: interface, at: path, peer, to: "no") }
        withExtendedLifetime(object) {}
    }
}
