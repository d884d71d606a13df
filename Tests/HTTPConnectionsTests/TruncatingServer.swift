// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL

/// A server with TLS that answers a request and closes the socket, without the end of TLS.
final class TruncatingServer: Sendable {
    let port: Int
    private let channel: any Channel

    init(_ text: String, _ context: NIOSSLContext) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let cut = CutHandler()
                    try channel.pipeline.syncOperations.addHandlers(
                        cut, NIOSSLServerHandler(context: context), TruncatedAnswer(text, cut))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }
}

/// Closes the socket below TLS.
private final class CutHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    var context: ChannelHandlerContext?
    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
}

private final class TruncatedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let (text, cut): (String, CutHandler)
    init(_ text: String, _ cut: CutHandler) { (self.text, self.cut) = (text, cut) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let cut = NIOLoopBound(cut, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in
            cut.value.context?.close(promise: nil)
        }
    }
}
