// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2

extension PooledConnection {
    /// The handler for one exchange: the connection's own with HTTP/1.1, that of a new stream with
    /// HTTP/2.
    func handler(_ pool: ConnectionPool) async throws -> NIOLoopBound<ExchangeHandler> {
        switch kind {
        case .http1(let handler): return handler
        case .http2(let multiplexer, _):
            let (eventLoop, promise) = (
                channel.eventLoop, channel.eventLoop.makePromise(of: NIOLoopBound<ExchangeHandler>.self)
            )
            eventLoop.execute {
                guard self.channel.isActive else {
                    return promise.fail(ChannelErrors.lost("the connection was closed before the request was sent"))
                }
                let created = eventLoop.makePromise(of: (any Channel).self)
                created.futureResult.whenFailure { promise.fail(ChannelErrors.failure($0, nil)) }
                multiplexer.value.createStreamChannel(promise: created) { stream in
                    self.configure(stream, pool, promise)
                }
            }
            return try await promise.futureResult.get()
        }
    }

    private func configure(
        _ stream: any Channel, _ pool: ConnectionPool, _ promise: EventLoopPromise<NIOLoopBound<ExchangeHandler>>
    ) -> EventLoopFuture<Void> {
        let handler = ExchangeHandler(stream: limits) { ending in
            let isHealthy = if case .unhealthy = ending { false } else { true }
            pool.releaseStream(of: self, isHealthy: isHealthy)
        }
        // The stream becomes active after its initializer.
        let eventLoop = stream.eventLoop
        let reference = NIOLoopBound(handler, eventLoop: eventLoop)
        return stream.setOption(.autoRead, value: false).flatMapThrowing {
            try stream.pipeline.syncOperations.addHandlers(
                HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https), reference.value)
        }.always { result in eventLoop.execute { promise.completeWith(result.map { reference }) } }
    }
}
