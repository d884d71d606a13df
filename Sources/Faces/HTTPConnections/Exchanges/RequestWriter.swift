// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOHTTP1

/// Sends one request on a channel, at the channel's pace. Used on its event loop.
final class RequestWriter {
    private var exchange: ActiveExchange?
    private var context: ChannelHandlerContext?
    private var progressed: () -> Void = {}
    /// The rest of a body of bytes that is not yet written.
    private var remaining: ByteBuffer?
    private var isStreaming = false
    /// The program's part that waits until the channel accepts more.
    private var waiting: EventLoopPromise<Void>?
    private var sentBytes = 0
    private(set) var isDone = true

    private static let pieceLength = 64 * 1024

    /// Whether the body is read from the program, and the connection accepts it.
    var waitsForProgram: Bool { isStreaming && !isDone && waiting == nil }

    /// - Parameter progressed: called when bytes were sent.
    func begin(_ exchange: ActiveExchange, _ context: ChannelHandlerContext, progressed: @escaping () -> Void) {
        (self.exchange, self.context, self.progressed) = (exchange, context, progressed)
        (sentBytes, isDone, isStreaming) = (0, false, false)
        write(.head(exchange.request.head), nil)
        switch exchange.request.body {
        case .none: end()
        case .bytes(let bytes):
            remaining = bytes
            writeRemaining()
        case .stream:
            isStreaming = true
            context.flush()
        }
    }

    func send(_ chunk: ByteBuffer, _ promise: EventLoopPromise<Void>) {
        writeBody(chunk)
        context?.flush()
        guard context?.channel.isWritable == false else { return promise.succeed() }
        waiting = promise
    }

    func end() {
        guard !isDone else { return }
        isDone = true
        write(.end(nil), nil)
        context?.flush()
        exchange?.sentRequest()
    }

    func writabilityChanged() {
        guard let context, context.channel.isWritable else { return }
        waiting?.succeed()
        waiting = nil
        writeRemaining()
    }

    /// Forgets the request, whether or not it was sent.
    func stop() {
        waiting?.fail(CancellationError())
        (exchange, context, remaining, waiting) = (nil, nil, nil, nil)
    }

    private func writeRemaining() {
        while let context, context.channel.isWritable, var bytes = remaining {
            guard let piece = bytes.readSlice(length: min(Self.pieceLength, bytes.readableBytes)),
                piece.readableBytes > 0
            else {
                remaining = nil
                return end()
            }
            remaining = bytes
            writeBody(piece)
            context.flush()
        }
    }

    private func writeBody(_ piece: ByteBuffer) {
        guard let context, let exchange else { return }
        let promise = context.eventLoop.makePromise(of: Void.self)
        let (count, reference) = (piece.readableBytes, NIOLoopBound(self, eventLoop: context.eventLoop))
        promise.futureResult.whenSuccess { reference.value.wrote(count, exchange) }
        write(.body(.byteBuffer(piece)), promise)
    }

    private func wrote(_ count: Int, _ exchange: ActiveExchange) {
        guard exchange === self.exchange else { return }
        sentBytes += count
        progressed()
        exchange.sent?(sentBytes)
    }

    private func write(_ part: HTTPClientRequestPart, _ promise: EventLoopPromise<Void>?) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(NIOAny(part), promise: promise)
    }
}
