// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyProtocol
internal import LinuxSystem
internal import Synchronization

/// The way back to the client that asked.
final class Reply: Sendable {
    private let channel: FrameChannel
    private let number: UInt64
    private let lastProgress = Atomic<UInt64>(0)

    init(channel: FrameChannel, number: UInt64) {
        self.channel = channel
        self.number = number
    }

    func send(_ response: Response) throws(WireError) {
        try channel.send(try NumberedResponse(number: number, response).frame())
    }

    /// Sends, and says whether the client is still there.
    func trySend(_ response: Response) -> Bool {
        do throws(WireError) {
            try send(response)
            return true
        } catch {
            return false
        }
    }

    /// Tells how far a long change has come, ten times a second at most, and never waits for the client: a transaction may be open.
    func progress(_ done: Int, _ total: Int) {
        let now = BootClock.system.now()
        // Wraps where another thread has told a later moment, and then tells once more.
        guard now &- lastProgress.load(ordering: .relaxed) > 100_000_000 else { return }
        lastProgress.store(now, ordering: .relaxed)
        // A client that has gone is noticed when it is answered.
        if let frame = try? NumberedResponse(number: number, .progress(done: done, total: total)).frame() {
            _ = try? channel.sendWithoutBlocking(frame)
        }
    }

    /// The next piece of a backup; nil at its end.
    func nextPiece() throws(KeychainError) -> [UInt8]? {
        do throws(WireError) {
            channel.socket.setTimeouts(receiving: FrameChannel.timeout)
            defer { channel.socket.setTimeouts(receiving: 0) }
            guard let (frame, _) = try channel.receive() else { throw .ended }
            guard case .piece(let bytes) = try NumberedRequest(frame).request else {
                throw .malformed("a piece of a backup was expected")
            }
            return bytes.isEmpty ? nil : bytes
        } catch {
            throw KeychainError(.io, "the backup did not arrive: \(error.description)")
        }
    }
}
