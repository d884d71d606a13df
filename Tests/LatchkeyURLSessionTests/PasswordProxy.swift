// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import NIOCore
import NIOPosix
import NIOSSL

/// A proxy that requires a password. For a tunnel it is itself the server with TLS; it answers every
/// request with the same text.
final class PasswordProxy: Sendable {
    let port: Int
    /// The heads that it received without TLS.
    let heads = Collected<String>()
    /// The heads that it received as a server with TLS.
    let requests = Collected<String>()
    private let channel: any Channel

    /// - Parameters:
    ///   - context: for the server with TLS.
    ///   - password: the accepted value of `Proxy-Authorization`; nil to accept none.
    ///   - challenge: the value of `Proxy-Authenticate`.
    ///   - serverReply: the answer of the server with TLS.
    ///   - plainReply: the answer of the proxy to a request for http.
    init(
        _ context: NIOSSLContext, password: String?, challenge: String = #"Basic realm="the proxy""#,
        serverReply: String = PasswordProxy.hello, plainReply: String = PasswordProxy.hello
    ) async throws {
        let (heads, requests) = (heads, requests)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        HeadHandler(heads) { head in
                            guard let password, head.contains("Proxy-Authorization: \(password)\r\n") else {
                                return .reply(Self.refusal(challenge))
                            }
                            return head.hasPrefix("CONNECT ")
                                ? .tunnel(context, HeadHandler(requests) { _ in .reply(serverReply) })
                                : .reply(plainReply)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    static func refusal(_ challenge: String) -> String {
        "HTTP/1.1 407 Authentication\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
    }
}

/// Reads the heads of requests without bodies, and answers them.
private final class HeadHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Answer {
        case reply(String)
        case tunnel(NIOSSLContext, HeadHandler)
    }

    private let heads: Collected<String>
    private let answer: (String) -> Answer
    private var received = ""

    init(_ heads: Collected<String>, _ answer: @escaping (String) -> Answer) {
        (self.heads, self.answer) = (heads, answer)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard received.hasSuffix("\r\n\r\n") else { return }
        heads.append(received)
        let head = received
        received = ""
        switch answer(head) {
        case .reply(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        case .tunnel(let tls, let server):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 Connected\r\n\r\n")), promise: nil)
            let operations = context.pipeline.syncOperations
            try? operations.addHandlers(NIOSSLServerHandler(context: tls), server)
            operations.removeHandler(self, promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
