// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxSystem
import Synchronization
import SystemBus

/// The other end of one connection. It sends calls with any signature and content, byte for byte: libsystemd and
/// `SystemBus` decode the bytes that a program can send.
final class WireBus {
    private let socket: Socket
    private let connection: BusConnection
    private let object: BusRegistration
    private let received: Received
    private var number: UInt32 = 100
    private var buffer: [UInt8] = []

    /// The arguments of the last call.
    private final class Received: Sendable {
        let arguments = Mutex<[BusValue]?>(nil)
    }

    private final class Accepted: Sendable {
        let socket = Mutex<Socket?>(nil)
    }

    /// nil if the connection could not be made.
    init?() {
        let path = "/tmp/latchkey-bus-\(RandomBytes.hexadecimal(count: 8))"
        defer { unlink(path) }
        let (accepted, received) = (Accepted(), Received())
        guard let listener = try? Socket(listeningAt: path, permissions: 0o600), let stop = try? StopSignal() else {
            return nil
        }
        BackgroundThread.run {
            guard let socket = (try? listener.accept(until: stop)) ?? nil else { return }
            Self.greet(socket)
            accepted.socket.withLock { $0 = socket }
        }
        guard let connection = try? BusConnection(to: .custom("unix:path=\(path)")),
            let object = try? connection.export(
                at: "/a", holdsSecrets: true,
                handler: { call in
                    received.arguments.withLock { $0 = call.arguments.remaining }
                    call.answer()
                })
        else {
            stop.raise()
            return nil
        }
        var socket: Socket?
        while socket == nil {
            socket = accepted.socket.withLock { $0 }
            usleep(100)
        }
        guard let socket else { return nil }
        (self.socket, self.connection, self.object, self.received) = (socket, connection, object, received)
    }

    /// Answers the greeting, and the first call. The first call gives a connection its name.
    private static func greet(_ socket: Socket) {
        var buffer: [UInt8] = []
        let end = Array("BEGIN\r\n".utf8)
        var rest: [UInt8]?
        while rest == nil {
            guard let more = receive(socket) else { return }
            buffer += more
            if let start = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) {
                rest = Array(buffer[(start + end.count)...])
            }
        }
        send(Array("DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n".utf8), socket)
        var message = rest ?? []
        while length(of: message) == nil {
            guard let more = receive(socket) else { return }
            message += more
        }
        send(RawMessage.answer(to: RawMessage(message), signature: "s", RawMessage.text(":1.1")), socket)
    }

    /// Gives the connection a call with this content.
    ///
    /// - Returns: the decoded arguments; nil if the content was refused. Then the connection may have
    ///   ended: ``isOpen``.
    func decode(_ signature: String, _ content: [UInt8]) -> [BusValue]? {
        received.arguments.withLock { $0 = nil }
        number += 1
        Self.send(RawMessage.call(from: ":1.2", number: number, signature: signature, content), socket)
        while let message = nextMessage() {
            switch message.kind {
            case .call: Self.send(RawMessage.answer(to: message, error: "org.freedesktop.DBus.Error.Failed"), socket)
            case .answer where message.answeredNumber == number: return received.arguments.withLock { $0 }
            case .error where message.answeredNumber == number: return nil
            default: break
            }
        }
        return nil
    }

    var isOpen: Bool { connection.isOpen }

    private func nextMessage() -> RawMessage? {
        while true {
            if let length = Self.length(of: buffer) {
                defer { buffer.removeFirst(length) }
                return RawMessage(Array(buffer.prefix(length)))
            }
            guard let more = Self.receive(socket) else { return nil }
            buffer += more
        }
    }

    /// The length of the first message; nil if it is not complete.
    private static func length(of buffer: [UInt8]) -> Int? {
        guard buffer.count >= 16 else { return nil }
        let length = RawMessage.headerLength(of: buffer) + RawMessage.number(buffer, at: 4)
        return buffer.count >= length ? length : nil
    }

    private static func receive(_ socket: Socket) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        guard let count = chunk.withUnsafeMutableBytes({ try? socket.receive(into: $0) }), count > 0 else { return nil }
        return Array(chunk.prefix(count))
    }

    private static func send(_ bytes: [UInt8], _ socket: Socket) {
        var rest = bytes[...]
        while !rest.isEmpty, let count = rest.withUnsafeBytes({ try? socket.send($0) }), count > 0 {
            rest = rest.dropFirst(count)
        }
    }

    deinit { connection.close() }
}
