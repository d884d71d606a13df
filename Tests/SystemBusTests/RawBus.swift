// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import SystemBus

/// The other end of one connection: it answers like a bus, records the messages that it receives, and sends any bytes
/// that a test specifies.
final class RawBus: Sendable {
    /// An answer that the connection has sent: the number of the call, and the name of its error.
    struct Answer: Hashable, Sendable {
        let number: UInt32
        var error: String?
    }

    private let directory: TemporaryDirectory
    private let listener: Socket
    private let stop: StopSignal
    private let connected = Received<Socket>()
    /// The signals that the connection has sent, as bytes.
    let signals = Received<[UInt8]>()
    /// The answers that the connection has sent.
    let answers = Received<Answer>()
    /// The connections in requests for their users.
    let requestedUsers = Received<String>()
    /// The users that the bus reports for connections; for others, it reports an error.
    private let users: [String: UInt32]
    /// The processes that it reports for them.
    private let processes: [String: UInt32]
    /// The connections that have ended, according to the bus.
    private let ended: Set<String>
    /// Whether the users are reported at once; otherwise by ``reportUsers()``.
    private let waitsWithUsers: Bool
    private let delayed = Received<[UInt8]>()

    var address: BusAddress { .custom("unix:path=\(directory.path)/bus") }

    init(
        users: [String: UInt32] = [:], processes: [String: UInt32] = [:], ended: Set<String> = [],
        waitsWithUsers: Bool = false
    ) throws {
        (self.users, self.processes, self.ended, self.waitsWithUsers) = (users, processes, ended, waitsWithUsers)
        directory = try TemporaryDirectory()
        listener = try Socket(listeningAt: "\(directory.path)/bus", permissions: 0o600)
        stop = try StopSignal()
        BackgroundThread.run { [weak self, listener, stop] in
            guard let socket = try? listener.accept(until: stop) else { return }
            self?.connected.append(socket)
            Self.serve(socket) { self?.receive($0, socket) }
        }
    }

    deinit { stop.raise() }

    /// Sends bytes to the connection.
    func send(_ bytes: [UInt8]) {
        guard let socket = connected.all.first else { return }
        Self.send(bytes, socket)
    }

    /// Reports the users that were requested.
    func reportUsers() {
        for answer in delayed.all { send(answer) }
    }

    /// Ends the connection.
    func finish() { connected.all.first?.finish() }

    private static func send(_ bytes: [UInt8], _ socket: Socket) {
        var rest = bytes[...]
        while !rest.isEmpty, let count = rest.withUnsafeBytes({ try? socket.send($0) }), count > 0 {
            rest = rest.dropFirst(count)
        }
    }

    private static func serve(_ socket: Socket, _ receive: ([UInt8]) -> Void) {
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
            while let message = takeMessage(&buffer) { receive(message) }
        }
    }

    private func receive(_ bytes: [UInt8], _ socket: Socket) {
        let message = RawMessage(bytes)
        switch message.kind {
        case .call where message.member == "GetConnectionCredentials":
            requestedUsers.append(message.text)
            let answer = answerAboutUser(of: message)
            if waitsWithUsers { delayed.append(answer) } else { Self.send(answer, socket) }
        case .call:
            // The name that a bus gives in its answer to the first call.
            Self.send(RawMessage.answer(to: message, signature: "s", RawMessage.text(":1.1")), socket)
        case .signal: signals.append(bytes)
        case .answer, .error: answers.append(Answer(number: message.answeredNumber, error: message.errorName))
        case nil: break
        }
    }

    private func answerAboutUser(of call: RawMessage) -> [UInt8] {
        guard let user = users[call.text] else {
            let name = ended.contains(call.text) ? "NameHasNoOwner" : "Failed"
            return RawMessage.answer(to: call, error: "org.freedesktop.DBus.Error.\(name)")
        }
        return RawMessage.answer(
            to: call, signature: "a{sv}",
            RawMessage.dictionary([
                ("UnixUserID", user), ("ProcessID", processes[call.text] ?? Self.process(call.text)),
            ]))
    }

    /// Without another one, each connection has a process of its own, numbered as the connection.
    private static func process(_ name: String) -> UInt32 {
        name.split(separator: ".").last.flatMap { UInt32($0) } ?? 1
    }

    /// Removes the first message from the buffer; nil if it is not complete.
    private static func takeMessage(_ buffer: inout [UInt8]) -> [UInt8]? {
        guard buffer.count >= 16 else { return nil }
        let length = RawMessage.headerLength(of: buffer) + RawMessage.number(buffer, at: 4)
        guard buffer.count >= length else { return nil }
        defer { buffer.removeFirst(length) }
        return Array(buffer.prefix(length))
    }
}
