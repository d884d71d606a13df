// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import SystemBus

/// The other end of one connection: it answers what a bus answers at the start, records signals,
/// and sends whatever bytes a test specifies.
final class RawBus: Sendable {
    private let directory: TemporaryDirectory
    private let listener: Socket
    private let stop: StopSignal
    private let connected = Received<Socket>()
    /// The signals that the connection has sent, as bytes.
    let signals = Received<[UInt8]>()

    var address: BusAddress { .custom("unix:path=\(directory.path)/bus") }

    init() throws {
        directory = try TemporaryDirectory()
        listener = try Socket(listeningAt: "\(directory.path)/bus", permissions: 0o600)
        stop = try StopSignal()
        BackgroundThread.run { [listener, stop, connected, signals] in
            guard let socket = try? listener.accept(until: stop, heartbeat: {}) else { return }
            connected.append(socket)
            Self.serve(socket, signals)
        }
    }

    deinit { stop.raise() }

    /// Sends bytes to the connection.
    func send(_ bytes: [UInt8]) {
        guard let socket = connected.all.first else { return }
        Self.send(bytes, socket)
    }

    /// Ends the connection.
    func finish() { connected.all.first?.finish() }

    private static func send(_ bytes: [UInt8], _ socket: Socket) {
        var rest = bytes[...]
        while !rest.isEmpty, let count = rest.withUnsafeBytes({ try? socket.send($0) }), count > 0 {
            rest = rest.dropFirst(count)
        }
    }

    private static func serve(_ socket: Socket, _ signals: Received<[UInt8]>) {
        var buffer: [UInt8] = []
        var isGreeted = false
        var chunk = [UInt8](repeating: 0, count: 65536)
        while let count = chunk.withUnsafeMutableBytes({ try? socket.receive(into: $0) }), count > 0 {
            buffer += chunk.prefix(count)
            if !isGreeted {
                let end = Array("BEGIN\r\n".utf8)
                guard let start = (0..<buffer.count).first(where: { buffer[$0...].starts(with: end) }) else { continue }
                isGreeted = true
                buffer.removeFirst(start + end.count)
                send(Array("DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n".utf8), socket)
            }
            while let message = takeMessage(&buffer) {
                // The types: 1 is a method call, 4 a signal.
                if message[1] == 4 { signals.append(message) }
                if message[1] == 1 { send(answer(to: message), socket) }
            }
        }
    }

    /// Removes the first message from the buffer; nil if it is not complete.
    private static func takeMessage(_ buffer: inout [UInt8]) -> [UInt8]? {
        guard buffer.count >= 16 else { return nil }
        let length = headerLength(of: buffer) + number(buffer, at: 4)
        guard buffer.count >= length else { return nil }
        defer { buffer.removeFirst(length) }
        return Array(buffer.prefix(length))
    }

    /// The length of the header, with its padding.
    static func headerLength(of message: [UInt8]) -> Int { 16 + (number(message, at: 12) + 7) / 8 * 8 }

    private static func number(_ bytes: [UInt8], at position: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
    }

    /// An answer with the name that a bus gives in its answer to the first call.
    private static func answer(to call: [UInt8]) -> [UInt8] {
        let name = Array(":1.1".utf8)
        var message: [UInt8] = [UInt8(ascii: "l"), 2, 1, 1] + little(4 + name.count + 1) + [1, 0, 0, 0] + little(15)
        // The serial number of the call, and the signature of the content.
        message += [5, 1, UInt8(ascii: "u"), 0] + call[8..<12]
        message += [8, 1, UInt8(ascii: "g"), 0, 1, UInt8(ascii: "s"), 0, 0]
        return message + little(name.count) + name + [0]
    }

    private static func little(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
