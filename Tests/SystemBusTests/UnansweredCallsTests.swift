// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import SystemBus
import Testing

/// Calls of several users, from a server that imitates a bus: a test cannot be several users.
@Suite("Unanswered calls")
struct UnansweredCallsTests {
    private static let exceeded = "org.freedesktop.DBus.Error.LimitsExceeded"

    /// A connection with an object `/a` that keeps the calls of `Wait`, and answers others.
    private final class World: Sendable {
        let raw: RawBus
        let held = Received<BusMethodCall>()
        private let client: BusConnection
        private let object: BusRegistration

        init(
            _ limits: BusLimits = BusLimits(), users: [String: UInt32], processes: [String: UInt32] = [:],
            ended: Set<String> = [], waitsWithUsers: Bool = false
        ) throws {
            raw = try RawBus(users: users, processes: processes, ended: ended, waitsWithUsers: waitsWithUsers)
            client = try BusConnection(to: raw.address, limits: limits)
            object = try client.export(at: "/a") { [held] call in
                if call.member == "Wait" { held.append(call) } else { call.answer() }
            }
        }

        /// Sends a call, and waits until it is kept or answered; returns its error.
        func call(
            _ member: String = "Wait", from sender: String, at path: String = "/a", _ number: UInt32,
            bytes: Int? = nil
        ) -> String? {
            let count = held.count
            let content = bytes.map(RawMessage.bytes)
            raw.send(
                RawMessage.call(
                    member, from: sender, at: path, number: number, signature: content == nil ? "" : "ay", content ?? []
                ))
            _ = eventually { held.count > count || raw.answers.all.contains { $0.number == number } }
            return raw.answers.all.first { $0.number == number }?.error
        }

        func answer(_ call: BusMethodCall) {
            let count = raw.answers.count
            call.answer()
            #expect(eventually { raw.answers.count > count })
        }
    }

    @Test("A peer has a limited number of unanswered calls, and cannot use up those of other peers")
    func users() throws {
        // All connections of a user are one peer.
        var limits = BusLimits()
        (limits.maxUnansweredCalls, limits.maxUnansweredCallsPerUser) = (5, 3)
        let world = try World(limits, users: [":1.2": 1000, ":1.3": 1000, ":1.4": 1000, ":1.5": 1001])
        #expect(world.call(from: ":1.2", 10) == nil && world.call(from: ":1.3", 11) == nil)
        #expect(world.call(from: ":1.3", 12) == nil && world.held.count == 3)
        for (number, sender) in [(UInt32(13), ":1.2"), (14, ":1.3"), (15, ":1.4")] {
            #expect(world.call("Other", from: sender, number) == Self.exceeded)
        }
        #expect(world.call(from: ":1.5", 16) == nil && world.call(from: ":1.5", 17) == nil)
        // All of them together.
        #expect(world.call("Other", from: ":1.5", 18) == Self.exceeded)
        world.answer(try #require(world.held.all.first))
        #expect(world.call("Other", from: ":1.4", 19) == nil)
        #expect(Set(world.raw.requestedUsers.all) == [":1.2", ":1.3", ":1.4", ":1.5"])
    }

    @Test("The connections of a process share a limit, beside that of their user")
    func oneProcess() throws {
        var limits = BusLimits()
        limits.unansweredShare = (calls: 2, bytes: 100_000)
        let names = [":1.2", ":1.3", ":1.4", ":1.5"]
        let world = try World(
            limits, users: Dictionary(uniqueKeysWithValues: names.map { ($0, 1000) }),
            processes: [":1.2": 70, ":1.3": 70, ":1.4": 70, ":1.5": 71])
        #expect(world.call(from: ":1.2", 10) == nil && world.call(from: ":1.3", 11) == nil && world.held.count == 2)
        #expect(world.call("Other", from: ":1.4", 12) == Self.exceeded)
        #expect(world.call("Other", from: ":1.5", 13) == nil)
    }

    @Test("However many processes take all that they get, one more can call")
    func processes() throws {
        var limits = BusLimits()
        (limits.maxUnansweredCalls, limits.maxUnansweredCallsPerUser) = (64, 64)
        limits.unansweredShare = (calls: 64, bytes: 1 << 20)
        let names = (2..<8).map { ":1.\($0)" }
        let world = try World(limits, users: Dictionary(uniqueKeysWithValues: names.map { ($0, 1000) }))
        var number: UInt32 = 10
        var taken: [Int] = []
        for name in names {
            let before = world.held.count
            for _ in 0..<64 {
                number += 1
                if world.call(from: name, number) != nil { break }
            }
            taken.append(world.held.count - before)
        }
        #expect(taken == [32, 16, 8, 4, 2, 1])
    }

    @Test("After a large call of a process was refused, others are refused undecoded until there is room for it")
    func refused() throws {
        var limits = BusLimits()
        limits.unansweredShare = (calls: 64, bytes: 300_000)
        let world = try World(limits, users: [":1.2": 1000, ":1.3": 1000])
        #expect(world.call(from: ":1.2", 10, bytes: 100_000) == nil && world.held.count == 1)
        #expect(world.call("Other", from: ":1.2", 11) == nil)
        #expect(world.call("Other", from: ":1.2", 12, bytes: 200_000) == Self.exceeded)
        #expect(world.call("Other", from: ":1.2", 13) == Self.exceeded)
        // That is no matter of another process.
        #expect(world.call("Other", from: ":1.3", 14, bytes: 200_000) == nil)
        world.answer(try #require(world.held.all.first))
        #expect(world.call("Other", from: ":1.2", 15) == nil)
        #expect(world.call("Other", from: ":1.2", 16, bytes: 200_000) == nil)
    }

    @Test(
        "A call of an object with too long a path is answered with an error",
        arguments: [4096, 4097, 5000, 65_535])
    func longPath(_ length: Int) throws {
        let world = try World(users: [":1.2": 1000])
        let path = "/a/" + String(repeating: "x", count: length - 3)
        let expected = length > 4096 ? Self.exceeded : nil
        #expect(world.call("Other", from: ":1.2", at: path, 10) == expected)
        // The connection goes on.
        #expect(world.call("Other", from: ":1.2", 11) == nil)
        #expect(Set(world.raw.answers.all.map(\.number)) == [10, 11])
    }

    @Test("A process has a limit of its own, beside that of its user")
    func connections() throws {
        var limits = BusLimits()
        limits.unansweredShare = (calls: 1, bytes: 100_000)
        let world = try World(limits, users: [":1.2": 1000, ":1.3": 1000])
        #expect(world.call(from: ":1.2", 10) == nil && world.held.count == 1)
        #expect(world.call("Other", from: ":1.2", 11) == Self.exceeded)
        #expect(world.call("Other", from: ":1.3", 12) == nil)
        #expect(world.call("Other", from: ":1.3", 13, bytes: 200_000) == Self.exceeded)
        world.answer(try #require(world.held.all.first))
        #expect(world.call("Other", from: ":1.2", 14) == nil)
    }

    @Test("A connection of an unreported user has a limit of its own")
    func unknownUser() throws {
        var limits = BusLimits()
        limits.maxUnansweredCallsPerUser = 1
        let world = try World(limits, users: [:])
        #expect(world.call(from: ":1.2", 10) == nil && world.held.count == 1)
        #expect(world.call("Other", from: ":1.2", 11) == Self.exceeded)
        #expect(world.call("Other", from: ":1.3", 12) == nil)
    }

    @Test("Calls of connections that have ended are not delivered, and use no limit")
    func endedConnections() throws {
        var limits = BusLimits()
        limits.maxUnansweredCalls = 1
        let world = try World(limits, users: [":1.9": 1000], ended: [":1.2", ":1.3"])
        for (number, sender) in [(UInt32(10), ":1.2"), (11, ":1.3"), (12, ":1.2")] {
            #expect(world.call(from: sender, number) != nil)
        }
        #expect(world.held.count == 0)
        #expect(world.call("Other", from: ":1.9", 13) == nil)
    }

    @Test("The memory of unanswered calls is limited for each user and for all, until they are answered")
    func bytes() throws {
        var limits = BusLimits()
        (limits.maxUnansweredBytes, limits.maxUnansweredBytesPerUser) = (500_000, 300_000)
        let world = try World(limits, users: [":1.2": 1000, ":1.3": 1000, ":1.4": 1001])
        #expect(world.call(from: ":1.2", 10, bytes: 200_000) == nil && world.held.count == 1)
        #expect(world.call("Other", from: ":1.3", 11, bytes: 200_000) == Self.exceeded)
        #expect(world.call("Other", from: ":1.3", 12, bytes: 50_000) == nil)
        #expect(world.call(from: ":1.4", 13, bytes: 200_000) == nil && world.held.count == 2)
        #expect(world.call("Other", from: ":1.4", 14, bytes: 80_000) == Self.exceeded)
        world.answer(try #require(world.held.all.first))
        #expect(world.call("Other", from: ":1.3", 15, bytes: 200_000) == nil)
    }

    /// A value of many small elements.
    struct ManyElements: Sendable, CustomTestStringConvertible {
        let value: BusValue
        var testDescription: String { value.type.code }

        init(_ value: BusValue) { self.value = value }

        /// An array of the same value, 400 times.
        init(of element: BusValue) {
            self.init(.array(of: element.type, Array(repeating: element, count: 400)))
        }
    }

    static let manyElements = [
        ManyElements(of: .boolean(true)), ManyElements(of: .string("")), ManyElements(of: .string("sixteen letters.")),
        ManyElements(of: .objectPath("/a/path/of/more/than/fifteen")), ManyElements(of: .bytes([])),
        ManyElements(of: .bytes([1])), ManyElements(of: .array(of: .string, [.string("a")])),
        ManyElements(of: .structure([.byte(1)])), ManyElements(of: .variant(.string("a"))),
        ManyElements(of: .signature(BusSignature(Array(repeating: .array(.byte), count: 127)))),
        ManyElements(of: .variant(.array(of: .structure(Array(repeating: .structure([.byte]), count: 80)), []))),
        ManyElements(of: .variant(.dictionary(key: .byte, value: .structure(dictionaries), []))),
        ManyElements(
            .dictionary(
                key: .byte, value: .variant, Array(repeating: .init(.byte(1), .variant(.byte(1))), count: 400))),
    ]

    private static let dictionaries = Array(repeating: BusType.dictionary(key: .byte, value: .byte), count: 49)

    @Test(
        "Calls of many small elements are charged at least with the memory that their arguments use",
        .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"), arguments: manyElements)
    func memory(_ elements: ManyElements) throws {
        let fixture = try BusFixture()
        let client = try fixture.connect()
        func size(_ limits: BusLimits) throws -> Int {
            let server = try fixture.connect(limits)
            let size = Received<Int>()
            let object = try server.export(at: "/a") { call in
                size.append(ValueMemory.bytes(of: call.arguments.remaining))
                call.answer()
            }
            try client.call(server.method("/a", "Measure"), [elements.value], timeout: .seconds(600))
            return try withExtendedLifetime(object) { try #require(size.all.first) }
        }
        var limits = BusLimits()
        let memory = try size(limits)
        limits.maxUnansweredBytesPerUser = memory - 1
        #expect(throws: BusError.self, "\(memory) bytes") { try size(limits) }
        // The charge is not far from it, so that ordinary calls are accepted.
        limits.maxUnansweredBytesPerUser = memory * 6
        #expect(try size(limits) > 0, "\(memory) bytes")
    }

    @Test("The first calls of a peer wait for its user, and are then delivered in their order within its limits")
    func waiting() throws {
        var limits = BusLimits()
        limits.maxUnansweredCallsPerUser = 3
        let world = try World(limits, users: [":1.2": 1000, ":1.3": 1000], waitsWithUsers: true)
        for number in 10..<14 {
            world.raw.send(
                RawMessage.call(
                    from: ":1.\(2 + number % 2)", number: UInt32(number), signature: "u",
                    RawMessage.little(UInt32(number))))
        }
        #expect(eventually { world.raw.requestedUsers.count == 2 })
        #expect(world.held.all.isEmpty && world.raw.answers.all.isEmpty)
        world.raw.reportUsers()
        #expect(eventually { world.raw.answers.count == 1 && world.held.count == 3 })
        let numbers = try world.held.all.map { call in
            var arguments = call.arguments
            return try arguments.next(UInt32.self)
        }
        #expect(numbers == [10, 12, 11])
        #expect(world.raw.answers.all == [RawBus.Answer(number: 13, error: Self.exceeded)])
        #expect(world.raw.requestedUsers.count == 2)
    }

    @Test("A call that expects no answer gets none, neither a result nor an error")
    func noAnswer() throws {
        let world = try World(BusLimits(), users: [":1.2": 1000])
        for (number, member) in [(UInt32(10), "Other"), (11, "Wait")] {
            var call = RawMessage.call(member, from: ":1.2", number: number)
            call[2] = 1
            world.raw.send(call)
        }
        #expect(eventually { world.held.count == 1 })
        for call in world.held.all { call.fail(.failed("no")) }
        #expect(world.call("Other", from: ":1.2", 12) == nil)
        #expect(world.raw.answers.all == [RawBus.Answer(number: 12)])
    }
}
