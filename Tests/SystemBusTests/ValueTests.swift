// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import SecretMemory
import SystemBus
import Testing

@Suite("Values on the bus", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct ValueTests {
    static let values: [BusValue] = [
        .byte(0), .byte(255), .boolean(true), .boolean(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
        .int64(.min), .uint64(.max), .double(-0.5), .double(.infinity), .string(""), .string("ä€😀 'quoted'"),
        .objectPath("/"), .objectPath("/org/example/a_1"), .signature(BusSignature([.array(.string), .variant])),
        .variant(.uint32(7)), .variant(.variant(.string("twice"))), .bytes([]), .bytes([0, 1, 255]),
        .array(of: .string, []), .array(of: .string, [.string("a"), .string("")]),
        .array(of: .array(.uint64), [.array(of: .uint64, []), .array(of: .uint64, [.uint64(1)])]),
        .dictionary(key: .string, value: .variant, []),
        .dictionary(
            key: .string, value: .variant,
            [.init(.string("b"), .variant(.boolean(true))), .init(.string("a"), .variant(.bytes([9])))]),
        .dictionary(
            key: .objectPath, value: .structure([.byte, .string]),
            [.init(.objectPath("/a"), .structure([.byte(1), .string("x")]))]),
        .structure([.objectPath("/session"), .bytes([1]), .bytes([2, 3]), .string("text/plain")]),
        .array(of: .structure([.string, .uint32]), [.structure([.string("c2"), .uint32(1000)])]),
    ]

    @Test("Every type arrives as it was sent, in both directions", arguments: values)
    func everyType(_ value: BusValue) throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho()
        let response = try client.call(
            server.method("/echo", "Echo"), [value, .string("end")], returning: [value.type, .string])
        #expect(response.remaining == [value, .string("end")])
        withExtendedLifetime((echo, server)) {}
    }

    @Test("Swift types are converted in both directions")
    func swiftTypes() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho()
        let sent: [any BusRepresentable] = [
            true, Int16(-1), UInt16(1), Int32(-2), UInt32(2), Int64(-3), UInt64(3), 1.5, "text", [UInt8](1...3),
            ["a", "b"], ["key": BusVariant("value")], [["x"], []],
        ]
        var fields = try client.call(
            server.method("/echo", "Echo"), sent.map(\.busValue), returning: sent.map { type(of: $0).busType })
        #expect(try fields.next(Bool.self))
        #expect(try fields.next(Int16.self) == -1 && fields.next(UInt16.self) == 1)
        #expect(try fields.next(Int32.self) == -2 && fields.next(UInt32.self) == 2)
        #expect(try fields.next(Int64.self) == -3 && fields.next(UInt64.self) == 3)
        #expect(try fields.next(Double.self) == 1.5 && fields.next(String.self) == "text")
        #expect(try fields.next([UInt8].self) == [1, 2, 3])
        #expect(try fields.next([String].self) == ["a", "b"])
        #expect(try fields.next([String: BusVariant].self)["key"]?.content(as: String.self) == "value")
        #expect(try fields.next([[String]].self) == [["x"], []])
        withExtendedLifetime((echo, server)) {}
    }

    @Test("A descriptor reaches the other side as a copy that is closed on exec")
    func descriptors() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho()
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let reading = OwnedDescriptor(adopting: ends[0])
        let writing = BusDescriptor(OwnedDescriptor(adopting: ends[1]))
        var response = try client.call(
            server.method("/echo", "Echo"), [.descriptor(writing)], returning: [.descriptor])
        let copy = try response.next(BusDescriptor.self)
        #expect(copy.rawValue != writing.rawValue)
        #expect(fcntl(copy.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        #expect(write(copy.rawValue, "x", 1) == 1)
        #expect(try reading.read(upTo: 1, path: "pipe") == [UInt8(ascii: "x")])
        withExtendedLifetime((echo, server, writing, copy)) {}
    }

    @Test("Byte arrays arrive as secrets where the receiver says so, also inside structures and variants")
    func secrets() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho(holdsSecrets: true)
        let secret = SharedSecret(copying: "the secret".utf8)
        let sent: [BusValue] = [
            .secret(secret), .structure([.secret(secret), .string("text/plain")]), .variant(.secret(secret)),
        ]
        let method = server.method("/echo", "Echo")
        let types = sent.map(\.type)
        #expect(try client.call(method, sent, returning: types, holdsSecrets: true).remaining == sent)
        var plain = try client.call(method, [.secret(secret)], returning: [.array(.byte)])
        #expect(try plain.next([UInt8].self) == Array("the secret".utf8))
        #expect("\(BusValue.secret(secret))".contains("redacted"))
        withExtendedLifetime((echo, server)) {}
    }

    @Test(
        "A value that cannot be sent is refused, and the connection goes on",
        arguments: [
            .string("a\0b"), .structure([]), .array(of: .string, [.uint32(1)]),
            .dictionary(key: .string, value: .string, [.init(.string("a"), .uint32(1))]),
            .dictionary(key: .variant, value: .string, []),
            .array(of: .structure([]), []),
        ] as [BusValue])
    func invalidValues(_ value: BusValue) throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let echo = try server.exportEcho()
        let method = server.method("/echo", "Echo")
        let problem = error { try client.call(method, [value]) }
        guard case .invalid? = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(try client.call(method, [.byte(1)], returning: [.byte]).remaining == [.byte(1)])
        withExtendedLifetime((echo, server)) {}
    }
}
