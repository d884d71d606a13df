// SPDX-License-Identifier: Apache-2.0

import LatchkeyNIOSSL
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A GET by NIO on a new connection that ends after the response: the minimum work of an HTTP client on NIO.
struct NIOClient: Sendable {
    enum Verification {
        /// BoringSSL's own, with the server's root and name. The context is made once.
        case boringSSL
        case latchkey
    }

    private let server: Server
    private let handler: @Sendable () throws -> NIOSSLClientHandler

    init(_ server: Server, _ verification: Verification) throws {
        self.server = server
        let (host, protocols) = (server.host, ["h2", "http/1.1"])
        switch verification {
        case .boringSSL:
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: server.root, format: .der)])
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = protocols
            let context = try NIOSSLContext(configuration: configuration)
            handler = { try NIOSSLClientHandler(context: context, serverHostname: host) }
        case .latchkey:
            let client = TLSClient(trust: try server.ownTrust, applicationProtocols: protocols)
            handler = { try client.handler(for: host).handler }
        }
    }

    /// Returns the number of bytes of the body.
    @discardableResult
    func get() async throws -> Int {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let result = eventLoop.makePromise(of: Int.self)
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: server.url.path,
            headers: ["Host": "\(server.host):\(server.port)", "Accept": "*/*"])
        let bootstrap = ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(try handler())
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(BodyCounter(head, result))
                }
            }
        do { _ = try await bootstrap.connect(host: server.host, port: server.port).get() } catch {
            result.fail(error)
        }
        return try await result.futureResult.get()
    }
}

/// Sends a request, and counts the bytes of the response's body.
private final class BodyCounter: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let result: EventLoopPromise<Int>
    private var count = 0

    init(_ head: HTTPRequestHead, _ result: EventLoopPromise<Int>) { (self.head, self.result) = (head, result) }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if head.status != .ok { fail(context, BenchmarkFailure("expected 200, found \(head.status.code)")) }
        case .body(let chunk): count += chunk.readableBytes
        case .end:
            result.succeed(count)
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { result.fail(BenchmarkFailure("the connection ended")) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(context, error) }

    private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
        result.fail(error)
        context.close(promise: nil)
    }
}
