// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import SystemBus
import Testing

/// Messages that no bus lets through, from a server that checks nothing.
@Suite("Damaged messages")
struct DamagedMessageTests {
    /// A random number generator with a seed, so that a failure can be repeated.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    /// A connection to a server that sends the bytes that the test specifies.
    private final class World {
        let raw: RawBus
        let client: BusConnection
        let received = EventCount()
        let barriers = EventCount()
        let registrations: [BusRegistration]
        /// The bytes of the valid signals.
        let valid: [UInt8]
        let barrier: [UInt8]

        init() throws {
            raw = try RawBus()
            client = try BusConnection(to: raw.address)
            let values = ValueTests.values
            let (received, barriers, raw) = (received, barriers, raw)
            let rule = SignalRule(from: nil, "org.example.Test", "Values", types: values.map(\.type))
            let end = SignalRule(from: nil, "org.example.Test", "Barrier", types: [])
            registrations = [
                try client.subscribe(to: rule) { _ in received.increase() },
                try client.subscribe(to: end) { _ in barriers.increase() },
                try client.export(at: "/a") { $0.answer($0.arguments.remaining) },
            ]
            try client.emit(from: "/a", "org.example.Test", "Values", values)
            try client.emit(from: "/a", "org.example.Test", "Barrier")
            #expect(eventually { raw.signals.count == 2 })
            // A signal without a sender is not delivered to handlers, so each has the field of one.
            valid = Self.withSender(raw.signals.all[0])
            barrier = Self.withSender(raw.signals.all[1])
        }

        /// Sends bytes, and then a valid signal; returns whether the connection has read both.
        func send(_ bytes: [UInt8]) -> Bool {
            let before = barriers.value
            raw.send(bytes)
            raw.send(barrier)
            #expect(eventually { barriers.value > before || !client.isOpen })
            return client.isOpen
        }

        /// Waits for the answer to a call; nil if there is none, and the connection is open.
        func answer(to number: UInt32) -> RawBus.Answer? {
            func found() -> RawBus.Answer? { raw.answers.all.first { $0.number == number } }
            _ = eventually { found() != nil || !client.isOpen }
            return found()
        }

        /// Adds the sender `:1.2` to the fields of the header.
        private static func withSender(_ message: [UInt8]) -> [UInt8] {
            let start = RawMessage.headerLength(of: message)
            let field: [UInt8] = [7, 1, UInt8(ascii: "s"), 0, 4, 0, 0, 0] + Array(":1.2".utf8) + [0]
            let count = start - 16 + field.count
            let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            let padding = [UInt8](repeating: 0, count: (8 - field.count % 8) % 8)
            return message[..<12] + length + message[16..<start] + field + padding + message[start...]
        }
    }

    @Test("Messages with changed bytes are decoded, ignored, or end the connection", arguments: 1...4)
    func changedBytes(_ seed: UInt64) throws {
        var generator = Generator(state: seed)
        var world = try World()
        #expect(world.send(world.valid) && world.received.value == 1)
        for round in 0..<100 {
            var bytes = world.valid
            // Not the lengths in the first 16 bytes: the connection would wait for that many bytes. One round in ten
            // changes the header.
            let header = RawMessage.headerLength(of: bytes)
            let range = round % 10 == 0 ? 16..<header : header..<bytes.count
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let position = Int.random(in: range, using: &generator)
                bytes[position] =
                    [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                    .randomElement(using: &generator) ?? 0
            }
            if !world.send(bytes) { world = try World() }
        }
    }

    @Test("A method call with changed bytes is answered, or ends the connection")
    func changedCalls() throws {
        var generator = Generator(state: 5)
        var world = try World()
        var refused = 0
        let types = BusSignature(ValueTests.values.map(\.type)).text
        let content = Array(world.valid[RawMessage.headerLength(of: world.valid)...])
        for number in 1000..<UInt32(1100) {
            var bytes = RawMessage.call(from: ":1.2", number: number, signature: types, content)
            let position = Int.random(in: RawMessage.headerLength(of: bytes)..<bytes.count, using: &generator)
            bytes[position] ^= UInt8.random(in: 1...255, using: &generator)
            if world.send(bytes) {
                refused += try #require(world.answer(to: number)).error == nil ? 0 : 1
            } else {
                world = try World()
            }
        }
        // Both happen: changes of numbers are echoed, changes of types and lengths are refused.
        #expect((1..<100).contains(refused), "\(refused)")
    }

    @Test("A message that ends too early ends the connection with the server")
    func truncated() throws {
        let world = try World()
        world.raw.send(Array(world.valid.dropLast(5)))
        world.raw.finish()
        #expect(eventually { !world.client.isOpen })
        #expect(world.received.value == 0)
    }
}
