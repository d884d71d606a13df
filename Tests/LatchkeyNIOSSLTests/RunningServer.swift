// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyNIOSSL
import NIOCore
import NIOPosix

/// A server with handlers of `TLSServer`, on a port that the kernel chose. It answers the first line
/// of each connection.
final class RunningServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let futures = Collected<EventLoopFuture<Ending>>()

    init(_ server: TLSServer) async throws {
        let futures = futures
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let promise = channel.eventLoop.makePromise(of: Ending.self)
                futures.append(promise.futureResult)
                return channel.eventLoop.makeCompletedFuture {
                    let (handler, handshake) = server.handler()
                    try channel.pipeline.syncOperations.addHandler(handler)
                    try channel.pipeline.syncOperations.addHandler(
                        Conversation(handshake, sending: "answer\n", endsAfter: true, promise))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// The end of each connection, in the order of their beginnings.
    func endings() async throws -> [Ending] {
        var endings: [Ending] = []
        for future in futures.all { endings.append(try await future.get()) }
        return endings
    }

    deinit { channel.close(promise: nil) }
}

/// A server that sends these bytes after the client's first, and ends the connection.
final class RawServer: Sendable {
    let port: Int
    private let channel: any Channel

    init(_ bytes: [UInt8]) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answer(bytes: bytes))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    private final class Answer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let bytes: [UInt8]
        init(bytes: [UInt8]) { self.bytes = bytes }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            context.close(promise: nil)
        }
    }

    deinit { channel.close(promise: nil) }
}
