// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem
internal import SecretMemory

/// One end of a connection that carries frames. Not thread-safe: only one thread at a time may use
/// it.
///
/// All bytes are received into secret memory. A message is copied from it to ordinary memory; each
/// secret is copied to secret memory of its own.
public final class FrameChannel: Sendable {
    public let socket: Socket
    private let state: State
    /// Called with the maximum number of bytes that a frame needs, before memory is allocated;
    /// throws if that is too much at present.
    private let reserve: @Sendable (Int) throws(WireError) -> Reservation?

    /// Memory that is charged to a user until the object is released.
    public typealias Reservation = any AnyObject & Sendable

    private final class State: @unchecked Sendable {  // because one thread at a time uses the channel
        let received = SecretBuffer(count: FrameChannel.bufferLength)
        let sending = SecretBuffer(count: FrameChannel.bufferLength)
        /// The range of `received` that holds bytes.
        var filled = 0..<0
        /// The bytes that did not fit into the socket's buffer.
        var unsent: [UInt8] = []
    }

    /// - Parameter reserve: called before memory is allocated for a frame that is larger than the
    ///   channel's own buffer.
    public init(
        _ socket: Socket,
        reserve: @escaping @Sendable (Int) throws(WireError) -> Reservation? = { (_) throws(WireError) in nil }
    ) {
        self.socket = socket
        state = State()
        self.reserve = reserve
        socket.setTimeouts(sending: Self.timeout)
    }

    // MARK: Receiving

    /// Waits for a frame: without a timeout for its first byte, and at most ``timeout`` seconds for
    /// the rest.
    ///
    /// - Returns: nil if the other end closed the connection between two frames.
    public func receive() throws(WireError) -> (frame: Frame, reservation: Reservation?)? {
        guard try fill(atLeast: FrameHeader.length, isFirst: true) else { return nil }
        let header = try withFilled { (bytes) throws(WireError) in try FrameHeader(bytes) }
        // At most 256 lengths, so that the table fits into the buffer.
        _ = try fill(atLeast: header.headLength, isFirst: false)
        let lengths = try withFilled { (bytes) throws(WireError) in try header.secretLengths(bytes) }
        let total = header.headLength + header.messageLength + lengths.reduce(0, +)
        guard total > Self.bufferLength else {
            _ = try fill(atLeast: total, isFirst: false)
            defer { drop(total) }
            return (withFilled { Self.frame($0, header, lengths) }, nil)
        }
        let reservation = try reserve(total)
        let whole = SecretBuffer(count: total)
        try receiveRest(of: whole)
        return (whole.withUnsafeMutableBytes { Self.frame(UnsafeRawBufferPointer($0), header, lengths) }, reservation)
    }

    /// Whether a frame, or a part of one, was already received.
    public var hasInput: Bool { !state.filled.isEmpty }

    private static func frame(_ bytes: UnsafeRawBufferPointer, _ header: FrameHeader, _ lengths: [Int]) -> Frame {
        var rest = bytes[header.headLength...]
        let message = Array(rest.prefix(header.messageLength))
        rest = rest.dropFirst(header.messageLength)
        let secrets = lengths.map { length in
            defer { rest = rest.dropFirst(length) }
            return SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: rest.prefix(length))))
        }
        return Frame(message: message, secrets: secrets)
    }

    private func withFilled<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.received.withUnsafeMutableBytes { (buffer) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[state.filled]))
        }
    }

    /// Receives until the buffer holds `count` bytes; returns false if the other end closed the
    /// connection before the first byte of a frame.
    private func fill(atLeast count: Int, isFirst: Bool) throws(WireError) -> Bool {
        guard state.filled.count < count else { return true }
        try state.received.withUnsafeMutableBytes { (buffer) throws(WireError) in
            guard state.filled.lowerBound > 0 else { return }
            // Move the bytes after the previous frame to the start of the buffer.
            let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[state.filled])
            if let target = buffer.baseAddress, let source = rest.baseAddress { memmove(target, source, rest.count) }
            state.filled = 0..<rest.count
        }
        let deadline = Deadline(isRunning: !isFirst || !state.filled.isEmpty, of: socket)
        defer { deadline.stop() }
        while state.filled.count < count {
            let got = try state.received.withUnsafeMutableBytes { (buffer) throws(WireError) in
                try some(UnsafeMutableRawBufferPointer(rebasing: buffer[state.filled.upperBound...]))
            }
            if got == 0 {
                if isFirst, state.filled.isEmpty { return false }
                throw .ended
            }
            state.filled = 0..<state.filled.upperBound + got
            if state.filled.count < count { try deadline.run() }
        }
        return true
    }

    private func receiveRest(of whole: borrowing SecretBuffer) throws(WireError) {
        let deadline = Deadline(isRunning: true, of: socket)
        defer { deadline.stop() }
        var done = state.filled.count
        whole.withUnsafeMutableBytes { target in withFilled { target.copyMemory(from: $0) } }
        drop(done)
        while done < whole.count {
            let start = done
            let got = try whole.withUnsafeMutableBytes { (buffer) throws(WireError) in
                try some(UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
            }
            guard got > 0 else { throw .ended }
            done += got
            try deadline.run()
        }
    }

    private func some(_ buffer: UnsafeMutableRawBufferPointer) throws(WireError) -> Int {
        do {
            return try socket.receive(into: buffer)
        } catch {
            throw Self.wireError(error)
        }
    }

    /// Wipes and removes the first bytes of the received ones.
    private func drop(_ count: Int) {
        state.received.withUnsafeMutableBytes { buffer in
            let used = state.filled.prefix(count)
            SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[used]))
            state.filled = used.upperBound..<state.filled.upperBound
        }
    }

    // MARK: Sending

    /// Sends a frame; the other end must receive it within ``timeout`` seconds.
    public func send(_ frame: Frame) throws(WireError) {
        try flush()
        try withBytes(of: frame) { (bytes) throws(WireError) in try sendAll(bytes) }
    }

    /// Sends a frame without secrets if the socket can take it immediately; otherwise the frame is
    /// dropped.
    public func sendWithoutBlocking(_ frame: Frame) throws(WireError) {
        guard state.unsent.isEmpty, frame.secrets.isEmpty else { return }
        let rest = try withBytes(of: frame) { (bytes) throws(WireError) -> [UInt8] in
            do throws(SystemError) {
                let sent = try socket.send(bytes, blocking: false)
                return sent == 0 ? [] : Array(bytes.dropFirst(sent))
            } catch {
                throw Self.wireError(error)
            }
        }
        // If a part of the frame was sent, the rest must follow.
        state.unsent = rest
    }

    private func flush() throws(WireError) {
        guard !state.unsent.isEmpty else { return }
        let rest = state.unsent
        state.unsent = []
        try rest.withUnsafeBytesTyped { (bytes) throws(WireError) in try sendAll(bytes) }
    }

    private func sendAll(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var rest = bytes
        var deadline: UInt64?
        while !rest.isEmpty {
            do throws(SystemError) {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(try socket.send(rest)))
            } catch {
                throw Self.wireError(error)
            }
            guard !rest.isEmpty else { return }
            let now = Deadline.now()
            if let deadline, now > deadline { throw .slow }
            deadline = deadline ?? now + UInt64(Self.timeout)
        }
    }

    private func withBytes<Result>(
        of frame: Frame, _ body: (UnsafeRawBufferPointer) throws(WireError) -> Result
    ) throws(WireError) -> Result {
        let secrets = frame.secrets.reduce(0) { $0 + $1.count }
        guard frame.message.count <= FrameHeader.maxMessageSize, frame.secrets.count <= FrameHeader.maxCount,
            secrets <= FrameHeader.maxSecretsSize
        else { throw .malformed("a frame of \(frame.message.count) and \(secrets) bytes is too large") }
        let total = FrameHeader.length + 4 * frame.secrets.count + frame.message.count + secrets
        if total <= Self.bufferLength {
            defer {
                if secrets > 0 {
                    state.sending.withUnsafeMutableBytes {
                        SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: $0.prefix(total)))
                    }
                }
            }
            return try state.sending.withUnsafeMutableBytes { (buffer) throws(WireError) in
                Self.write(frame, to: buffer)
                return try body(UnsafeRawBufferPointer(rebasing: buffer.prefix(total)))
            }
        }
        let whole = SecretBuffer(count: total)
        return try whole.withUnsafeMutableBytes { (buffer) throws(WireError) in
            Self.write(frame, to: buffer)
            return try body(UnsafeRawBufferPointer(buffer))
        }
    }

    private static func write(_ frame: Frame, to buffer: UnsafeMutableRawBufferPointer) {
        let numbers = [frame.message.count, frame.secrets.count] + frame.secrets.map(\.count)
        var offset = 0
        for number in numbers {
            buffer.storeBytes(of: UInt32(number).bigEndian, toByteOffset: offset, as: UInt32.self)
            offset += 4
        }
        UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyBytes(from: frame.message)
        offset += frame.message.count
        for secret in frame.secrets {
            secret.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: $0) }
            offset += secret.count
        }
    }

    private static func wireError(_ error: SystemError) -> WireError {
        switch error.code {
        case EAGAIN: .slow
        case EPIPE, ECONNRESET: .ended
        default: .system(error)
        }
    }

    /// The timeout for sending or receiving a frame, in seconds.
    public static let timeout = 30
    /// Frames up to this length, in bytes, need no memory of their own.
    static let bufferLength = 4096
}

/// Limits the total time for the rest of a frame, even if bytes keep arriving.
private final class Deadline {
    private let socket: Socket
    private var end: UInt64?

    init(isRunning: Bool, of socket: Socket) {
        self.socket = socket
        if isRunning { start() }
    }

    /// Starts the timeout with the first bytes of a frame; later throws if the timeout has passed.
    func run() throws(WireError) {
        guard let end else { return start() }
        guard Self.now() <= end else { throw .slow }
    }

    private func start() {
        end = Self.now() + UInt64(FrameChannel.timeout)
        socket.setTimeouts(receiving: FrameChannel.timeout)
    }

    func stop() {
        if end != nil { socket.setTimeouts(receiving: 0) }
    }

    /// Seconds since boot.
    static func now() -> UInt64 { BootClock.system.now() / 1_000_000_000 }
}

extension [UInt8] {
    fileprivate func withUnsafeBytesTyped(_ body: (UnsafeRawBufferPointer) throws(WireError) -> Void) throws(WireError)
    {
        try withUnsafeBufferPointer { (pointer) throws(WireError) in try body(UnsafeRawBufferPointer(pointer)) }
    }
}
