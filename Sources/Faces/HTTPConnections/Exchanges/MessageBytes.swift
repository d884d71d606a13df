// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import TransportPolicy

/// The received bytes of one message, used on one event loop. All bytes outside of the body are limited: heads, status
/// lines, the extensions of chunks, and trailers.
final class MessageBytes {
    private let maxFieldBytes: Int
    private(set) var received = 0
    private var body = 0

    init(maxFieldBytes: Int) { self.maxFieldBytes = maxFieldBytes }

    func begin() { (received, body) = (0, 0) }
    func receive(_ count: Int) { received += count }
    func receiveBody(_ count: Int) { body += count }

    /// A body of one byte a chunk has five bytes of framing for each of them.
    var exceedsLimit: Bool { received - body > 2 * maxFieldBytes + 16 * body }
}

/// Counts the bytes that a connection receives, before the decoder does, and stops at the limit.
final class MessageBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let bytes: MessageBytes
    init(_ bytes: MessageBytes) { self.bytes = bytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The decoder has handed over the earlier bytes.
        guard !bytes.exceedsLimit else {
            return context.fireErrorCaught(
                HTTPFailure(.dataLengthExceedsMaximum, "the head or the framing of the response is too long"))
        }
        bytes.receive(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }
}
