// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// A server of HTTP/1.1 or HTTP/2 on a port that the kernel chose, with TLS or without. It answers as a test says, and
/// records the requests.
final class WebServer: Sendable {
    struct Request: Sendable {
        let method, target: String
        let fields: [String: String]
        let body: [UInt8]
        /// The number of the connection, from 1.
        let connection: Int
        /// The subject of the client's certificate.
        let client: [UInt8]?
    }

    struct Reply: Sendable {
        var status = 200
        var fields: [(String, String)] = []
        var body: [UInt8] = []
        /// After so many bytes of the body, the connection ends.
        var cut: Int?
        /// Nothing is sent, and the connection stays open.
        var isSilent = false
        /// The body has no length and ends with the connection.
        var isOpenEnded = false

        static func text(_ text: String) -> Reply { Reply(body: Array(text.utf8)) }
        static func redirect(_ status: Int = 302, to location: String) -> Reply {
            Reply(status: status, fields: [("Location", location)])
        }
    }

    let port: Int
    let isSecure: Bool
    private let channel: any Channel
    private let log: Log

    final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        let connections = Atomic(0)
    }

    /// - Parameters:
    ///   - identity: files of a certificate and its key; nil for a server without TLS.
    ///   - clientRoot: the file of the CA for the certificate that a client must show; nil to ask for none.
    ///   - isHTTP2: whether HTTP/2 alone is spoken; this requires TLS.
    init(
        _ identity: (certificate: String, key: String)?, chain: String? = nil, clientRoot: String? = nil,
        isHTTP2: Bool = false, _ answer: @escaping @Sendable (Request) -> Reply
    ) async throws {
        let log = Log()
        let context = try identity.map { identity in
            let files = [identity.certificate] + (chain.map { [$0] } ?? [])
            let certificates = try files.flatMap { try NIOSSLCertificate.fromPEMFile($0) }.map {
                NIOSSLCertificateSource.certificate($0)
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: certificates,
                privateKey: .privateKey(try NIOSSLPrivateKey(file: identity.key, format: .pem)))
            if isHTTP2 { configuration.applicationProtocols = ["h2"] }
            if let clientRoot {
                configuration.certificateVerification = .noHostnameVerification
                configuration.trustRoots = .file(clientRoot)
            }
            return try NIOSSLContext(configuration: configuration)
        }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = log.connections.add(1, ordering: .relaxed).newValue
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    if isHTTP2 { return try Self.configureHTTP2(channel) { Handler(log, number, answer) } }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
                    try channel.pipeline.syncOperations.addHandler(Handler(log, number, answer))
                }
            }
        channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        (isSecure, self.log) = (identity != nil, log)
    }

    convenience init(
        _ lab: Lab, isHTTP2: Bool = false, _ answer: @escaping @Sendable (Request) -> Reply
    ) async throws {
        try await self.init(
            (lab.server.file, lab.server.keyFile), chain: lab.authority.intermediate.file, isHTTP2: isHTTP2, answer)
    }

    private static func configureHTTP2(_ channel: any Channel, _ handler: @escaping @Sendable () -> Handler) throws {
        let connection = NIOHTTP2Handler(mode: .server, eventLoop: channel.eventLoop) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers(HTTP2FramePayloadToHTTP1ServerCodec(), handler())
            }
        }
        try channel.pipeline.syncOperations.addHandler(connection)
    }

    func url(_ target: String = "/") -> URL {
        var components = URLComponents()
        (components.scheme, components.host, components.port) = (isSecure ? "https" : "http", Lab.host, port)
        let base = components.url ?? URL(filePath: "/")
        return URL(string: target, relativeTo: base)?.absoluteURL ?? base
    }

    var requests: [Request] { log.requests.withLock { $0 } }
    var connectionCount: Int { log.connections.load(ordering: .relaxed) }

    deinit { channel.close(promise: nil) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let log: Log
        private let number: Int
        private let answer: @Sendable (Request) -> Reply
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ log: Log, _ number: Int, _ answer: @escaping @Sendable (Request) -> Reply) {
            (self.log, self.number, self.answer) = (log, number, answer)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, [])
            case .body(let part): body += Array(part.readableBytesView)
            case .end: respond(context)
            }
        }

        private func respond(_ context: ChannelHandlerContext) {
            guard let head else { return }
            let tls = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
            let request = Request(
                method: head.method.rawValue, target: head.uri,
                fields: Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" },
                body: body, connection: number, client: tls?.peerCertificate.flatMap { try? $0.toDERBytes() })
            log.requests.withLock { $0.append(request) }
            let reply = answer(request)
            guard !reply.isSilent else { return }
            var fields = HTTPHeaders(reply.fields)
            let status = HTTPResponseStatus(statusCode: reply.status)
            if !reply.isOpenEnded, reply.status != 304, reply.status != 204 {
                fields.add(name: "Content-Length", value: "\(reply.body.count)")
            }
            if reply.isOpenEnded { fields.add(name: "Connection", value: "close") }
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))),
                promise: nil)
            let sent = reply.body.prefix(reply.cut ?? reply.body.count)
            if head.method != .HEAD {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: sent)))), promise: nil)
            }
            if reply.cut != nil || reply.isOpenEnded {
                let channel = context.channel
                context.flush()
                context.eventLoop.execute { channel.close(promise: nil) }
            } else {
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
