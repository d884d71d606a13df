// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import TransportPolicy

/// One connection to a server, for the handshake alone.
struct HandshakeProbe: Sendable {
    var client: TLSClient
    let server: ServerAddress
    /// The address to connect to, if it is not that of the server's name.
    var connectHost: String?
    /// Seconds for everything, from the resolution of the name to the end of the handshake.
    var timeout: Int

    /// The end of the connection, and its known properties.
    struct Result: Sendable {
        enum Outcome: Sendable {
            case accepted(TLSHandshake.Peer)
            case refused(TLSRefusal)
            /// There is no connection: nothing is known of the server.
            case unreachable(String)
        }

        var outcome: Outcome
        /// Whether there was a connection.
        var isConnected = false
        var version: TransportPolicy.TLSVersion?
        /// The protocol of ALPN that the server selected.
        var applicationProtocol: String?
    }

    /// Connects, and waits for the end of the handshake. Must not be called on an event loop.
    func run() -> Result {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        do { return try loop.flatSubmit { start(on: loop) }.wait() } catch {
            let refusal = error as? TLSRefusal
            return Result(outcome: refusal.map { .refused($0) } ?? .unreachable("\(error)"))
        }
    }

    /// - Returns: the result; fails with a `TLSRefusal` if the policy allows no connection.
    private func start(on loop: any EventLoop) -> EventLoopFuture<Result> {
        let promise = loop.makePromise(of: Result.self)
        let (tls, observer): (NIOLoopBound<NIOSSLClientHandler>, NIOLoopBound<HandshakeObserver>)
        do throws(TLSRefusal) {
            let (handler, handshake) = try client.handler(for: server.host)
            tls = NIOLoopBound(handler, eventLoop: loop)
            observer = NIOLoopBound(HandshakeObserver(handshake, handler, promise), eventLoop: loop)
        } catch {
            promise.fail(error)
            return promise.futureResult
        }
        let expiry = loop.scheduleTask(in: .seconds(Int64(timeout))) { observer.value.end(afterTimeout: timeout) }
        promise.futureResult.whenComplete { _ in expiry.cancel() }
        // A second longer, so that the message is the one of the timeout above.
        ClientBootstrap(group: loop).connectTimeout(.seconds(Int64(timeout) + 1)).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(tls.value, observer.value)
            }
        }.connect(host: connectHost ?? server.host, port: server.port).whenFailure { error in
            observer.value.end(unreachable: ConnectFailure.text(error))
        }
        return promise.futureResult
    }
}

/// Observes the handshake of one connection, on its event loop.
private final class HandshakeObserver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let handshake: TLSHandshake
    private weak var tls: NIOSSLClientHandler?
    private let promise: EventLoopPromise<HandshakeProbe.Result>
    private var channel: (any Channel)?
    private var hasEnded = false

    init(_ handshake: TLSHandshake, _ tls: NIOSSLClientHandler, _ promise: EventLoopPromise<HandshakeProbe.Result>) {
        (self.handshake, self.tls, self.promise) = (handshake, tls, promise)
    }

    func handlerAdded(context: ChannelHandlerContext) { channel = context.channel }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let name) = event as? TLSUserEvent, let peer = handshake.peer {
            end(.accepted(peer), applicationProtocol: name)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(.refused(handshake.refusal(for: error))) }

    func channelInactive(context: ChannelHandlerContext) {
        end(.refused(handshake.refusal(for: NIOSSLError.uncleanShutdown)))
    }

    func end(afterTimeout seconds: Int) {
        let isConnected = channel?.isActive == true
        end(
            .unreachable(
                isConnected
                    ? "the handshake took longer than \(seconds) seconds"
                    : "the connection took longer than \(seconds) seconds"))
    }

    func end(unreachable reason: String) { end(.unreachable(reason)) }

    private func end(_ outcome: HandshakeProbe.Result.Outcome, applicationProtocol: String? = nil) {
        guard !hasEnded else { return }
        hasEnded = true
        let version = tls?.tlsVersion.flatMap { TransportPolicy.TLSVersion($0) }
        promise.succeed(
            HandshakeProbe.Result(
                outcome: outcome, isConnected: channel?.remoteAddress != nil, version: version,
                applicationProtocol: applicationProtocol))
        channel?.close(promise: nil)
        channel = nil
    }
}

extension TransportPolicy.TLSVersion {
    fileprivate init?(_ version: NIOSSL.TLSVersion) {
        switch version {
        case .tlsv1: self = .tls10
        case .tlsv11: self = .tls11
        case .tlsv12: self = .tls12
        case .tlsv13: self = .tls13
        }
    }
}
