// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyProtocol
internal import LinuxSystem
internal import Synchronization

/// Sends the responses to one request.
final class Reply: Sendable {
    private let channel: FrameChannel
    private let decoder: RequestDecoder
    private let number: UInt64
    private let lastProgress = Atomic<UInt64>(0)

    init(channel: FrameChannel, decoder: RequestDecoder, number: UInt64) {
        self.channel = channel
        self.decoder = decoder
        self.number = number
    }

    func send(_ response: Response) throws(WireError) {
        try channel.send(try NumberedResponse(number: number, response).frame())
    }

    /// Sends a response; returns false if the client has disconnected.
    func trySend(_ response: Response) -> Bool {
        do throws(WireError) {
            try send(response)
            return true
        } catch {
            return false
        }
    }

    /// Sends the progress of a long operation, at most ten times a second. It never waits for the
    /// client, because a transaction may be open.
    func progress(_ done: Int, _ total: Int) {
        let now = BootClock.system.now()
        // If another thread has stored a later time, the difference wraps, and progress is sent
        // once more.
        guard now &- lastProgress.load(ordering: .relaxed) > 100_000_000 else { return }
        lastProgress.store(now, ordering: .relaxed)
        // A disconnected client is detected when the response is sent.
        if let frame = try? NumberedResponse(number: number, .progress(done: done, total: total)).frame() {
            _ = try? channel.sendWithoutBlocking(frame)
        }
    }

    /// Receives the part that the client sends when it was told that the daemon is ready.
    ///
    /// - Parameter noun: the name of the received content, for messages.
    func next<Part: KeychainOperation>(_ type: Part.Type, _ noun: String) throws(KeychainError) -> Part {
        do throws(WireError) {
            channel.socket.setTimeouts(receiving: FrameChannel.timeout)
            defer { channel.socket.setTimeouts(receiving: 0) }
            guard let (frame, _) = try channel.receive() else { throw .ended }
            guard let part = try decoder.decode(frame).operation as? Part else {
                throw .malformed("expected a part of the \(noun)")
            }
            return part
        } catch {
            throw KeychainError(.io, "the \(noun) was not received: \(error.description)")
        }
    }
}
