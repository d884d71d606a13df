// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import NIOCore
import NIOPosix
import NIOSSL

/// A proxy that accepts CONNECT and is then itself the server with TLS.
final class TunnelProxy: Sendable {
    let port: Int
    let requests = Collected<String>()
    private let channel: any Channel

    init(_ context: NIOSSLContext, _ response: String) async throws {
        let requests = requests
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectAnswer(context, response, requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }
}

private final class ConnectAnswer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let context: NIOSSLContext
    private let response: String
    private let requests: Collected<String>

    init(_ context: NIOSSLContext, _ response: String, _ requests: Collected<String>) {
        (self.context, self.response, self.requests) = (context, response, requests)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        requests.append(String(buffer: unwrapInboundIn(data)))
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 Connected\r\n\r\n")), promise: nil)
        let operations = context.pipeline.syncOperations
        try? operations.addHandlers(NIOSSLServerHandler(context: self.context), FixedAnswer(response))
        operations.removeHandler(self, promise: nil)
    }
}

private final class FixedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let response: String

    init(_ response: String) { self.response = response }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
