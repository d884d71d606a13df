// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A server of HTTP/2 with TLS. It answers the path `/wait` when a test says so, `/large` with a
/// mebibyte, and every other path with the request's body.
final class HTTP2Server: Sendable {
    let port: Int
    let connections = EventCount()
    let requests = EventCount()
    /// Completes the answers to `/wait`.
    let go: EventLoopPromise<Void>
    private let channel: any Channel

    init(_ context: NIOSSLContext, maxStreams: Int = 100) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let go = group.next().makePromise(of: Void.self)
        let (connections, requests) = (connections, requests)
        channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                connections.increase()
                return channel.eventLoop.makeCompletedFuture {
                    try Self.configure(channel, context, maxStreams, Responder.Shared(requests, go.futureResult))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.go = go
        port = channel.localAddress?.port ?? 0
    }

    func url(_ path: String) -> String { "https://localhost:\(port)\(path)" }

    private static func configure(
        _ channel: any Channel, _ context: NIOSSLContext, _ maxStreams: Int, _ shared: Responder.Shared
    ) throws {
        var settings = NIOHTTP2Handler.ConnectionConfiguration()
        settings.initialSettings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams)]
        let handler = NIOHTTP2Handler(
            mode: .server, eventLoop: channel.eventLoop, connectionConfiguration: settings
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers(
                    HTTP2FramePayloadToHTTP1ServerCodec(), Responder(shared))
            }
        }
        try channel.pipeline.syncOperations.addHandlers(NIOSSLServerHandler(context: context), handler)
    }

    deinit {
        go.succeed()
        channel.close(promise: nil)
    }
}

private final class Responder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    struct Shared: Sendable {
        let requests: EventCount
        let go: EventLoopFuture<Void>
        init(_ requests: EventCount, _ go: EventLoopFuture<Void>) { (self.requests, self.go) = (requests, go) }
    }

    private let shared: Shared
    private var (path, body) = ("", ByteBuffer())

    init(_ shared: Shared) { self.shared = shared }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): path = head.uri
        case .body(let part): body.writeImmutableBuffer(part)
        case .end:
            shared.requests.increase()
            guard path == "/wait" else { return answer(context) }
            let (this, reference) = (
                NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
            )
            shared.go.hop(to: context.eventLoop).whenComplete { _ in this.value.answer(reference.value) }
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        if path == "/large" { body = ByteBuffer(repeating: 0x61, count: 1 << 20) }
        let head = HTTPResponseHead(version: .http2, status: .ok, headers: ["x-path": path])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
