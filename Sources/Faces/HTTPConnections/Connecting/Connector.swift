// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOPosix
internal import TransportPolicy

/// Makes one connection: address, proxy, TLS, protocol.
struct Connector: Sendable {
    let target: HTTPTarget
    let proxy: HTTPProxy?
    /// Nil for http.
    let tls: PreparedTLS?
    let configuration: HTTPConnections.Configuration
    let pool: ConnectionPool

    private let clock = ConnectionClock()

    init(
        _ target: HTTPTarget, _ proxy: HTTPProxy?, _ tls: PreparedTLS?, _ configuration: HTTPConnections.Configuration,
        _ pool: ConnectionPool
    ) {
        (self.target, self.proxy, self.tls) = (target, proxy, tls)
        (self.configuration, self.pool) = (configuration, pool)
    }

    /// Connects, and ends the attempt if the task is cancelled.
    func connection() async throws(HTTPFailure) -> PooledConnection {
        let opened = OpenedChannels()
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        do {
            return try await withTaskCancellationHandler {
                try await connect(eventLoop, opened).get()
            } onCancel: {
                opened.cancel()
            }
        } catch {
            throw Task.isCancelled ? .cancelled : failure(error)
        }
    }

    private func connect(_ eventLoop: any EventLoop, _ opened: OpenedChannels) -> EventLoopFuture<PooledConnection> {
        // Without NIO's own option TCP_NODELAY: a sandbox may refuse it, and the failure would end the connection.
        // Turning MPTCP on removes the option.
        let bootstrap = ClientBootstrap(group: eventLoop).enableMPTCP(true).enableMPTCP(false)
            .connectTimeout(configuration.connectTimeout)
            .resolver(SystemResolver(eventLoop, clock))
            .channelInitializer { channel in
                guard opened.add(channel) else { return channel.eventLoop.makeFailedFuture(HTTPFailure.cancelled) }
                return channel.setOption(.tcpOption(.tcp_nodelay), value: 1).flatMapError { _ in
                    channel.eventLoop.makeSucceededVoidFuture()
                }
            }
        clock.set { $0.connectStart = $1 }
        let connected = bootstrap.connect(host: proxy?.host ?? target.host, port: proxy?.port ?? target.port)
        return connected.flatMap { channel in
            clock.set { $0.connectEnd = $1 }
            return tunnel(channel).flatMap { handshake(channel) }.flatMap { name in
                channel.eventLoop.makeCompletedFuture { try HTTPPipeline(self, channel).configure(name) }
            }.flatMapError { error in
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// A request for http is sent to the proxy itself.
    private func tunnel(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let proxy, target.isSecure else { return channel.eventLoop.makeSucceededVoidFuture() }
        let opened = channel.eventLoop.makePromise(of: Void.self)
        let timeout = channel.eventLoop.scheduleTask(in: configuration.connectTimeout) {
            opened.fail(HTTPFailure(.timedOut, "the proxy \(proxy.host) did not answer in time"))
        }
        opened.futureResult.whenComplete { _ in timeout.cancel() }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ProxyTunnel(target, proxy, opened))
        }.flatMapError { error in
            opened.fail(error)
            return channel.eventLoop.makeSucceededVoidFuture()
        }.flatMap { opened.futureResult }
    }

    /// Returns the name of the application protocol; nil without TLS, or if none was selected.
    private func handshake(_ channel: any Channel) -> EventLoopFuture<String?> {
        guard let tls else { return channel.eventLoop.makeSucceededFuture(nil) }
        clock.set { $0.secureStart = $1 }
        let completed = channel.eventLoop.makePromise(of: String?.self)
        let timer = NIOLoopBound(
            HandshakeTimer(configuration.connectTimeout, channel.eventLoop) {
                completed.fail(HTTPFailure(.timedOut, "the handshake with \(target.host) was not complete in time"))
            }, eventLoop: channel.eventLoop)
        tls.review?.whenAsked { isAsked in
            channel.eventLoop.execute { if isAsked { timer.value.pause() } else { timer.value.resume() } }
        }
        do {
            try channel.pipeline.syncOperations.addHandlers(tls.handler, HandshakeWait(tls.handshake, completed))
        } catch {
            completed.fail(error)
        }
        return completed.futureResult.always { _ in
            timer.value.end()
            clock.set { $0.secureEnd = $1 }
        }
    }

    var times: HTTPTimes { clock.value }

    private func failure(_ error: any Error) -> HTTPFailure {
        switch error {
        case let failure as HTTPFailure: return failure
        case let refusal as TLSRefusal: return HTTPFailure(refusal)
        case let error as NIOConnectionError: return failure(connecting: error)
        case ChannelError.connectTimeout:
            return HTTPFailure(.timedOut, "no connection to \(place) could be made in time")
        default: return HTTPFailure(.cannotConnectToHost, "no connection to \(place) can be made: \(error)")
        }
    }

    private var place: String { "\(proxy?.host ?? target.bracketedHost):\(proxy?.port ?? target.port)" }

    private func failure(connecting error: NIOConnectionError) -> HTTPFailure {
        if error.connectionErrors.isEmpty {
            let reason = (error.dnsAError ?? error.dnsAAAAError).map {
                " (\(($0 as? SystemResolver.NotFound)?.reason ?? "\($0)"))"
            }
            return HTTPFailure(.cannotFindHost, "the host \(error.host) has no address\(reason ?? "")")
        }
        let reasons = error.connectionErrors.map { "\($0.target): \($0.error)" }
        if error.connectionErrors.allSatisfy({ if case ChannelError.connectTimeout = $0.error { true } else { false } })
        {
            return HTTPFailure(.timedOut, "no connection to \(place) could be made in time")
        }
        return HTTPFailure(
            .cannotConnectToHost, "no connection to \(place) can be made: \(reasons.joined(separator: "; "))")
    }
}
