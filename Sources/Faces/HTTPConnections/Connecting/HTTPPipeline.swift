// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOSSL
internal import TransportPolicy

/// The handlers of a connection after its handshake. Used on its event loop.
struct HTTPPipeline {
    private let connector: Connector
    private let channel: any Channel

    init(_ connector: Connector, _ channel: any Channel) { (self.connector, self.channel) = (connector, channel) }

    /// - Parameter name: the name of the application protocol.
    func configure(_ name: String?) throws -> PooledConnection {
        name == "h2" ? try configureHTTP2() : try configureHTTP1()
    }

    private func configureHTTP1() throws -> PooledConnection {
        let limits = connector.configuration.limits
        let bytes = MessageBytes(maxFieldBytes: limits.maxFieldBytes)
        var request = HTTPRequestEncoder.Configuration()
        request.automaticallySetFramingHeaders = false
        var response = NIOHTTPDecoderLimitConfiguration()
        response.maxHeaderFieldSize = limits.maxFieldBytes
        response.maxHeaderListSize = limits.maxFieldBytes
        response.maxHeaderFieldCount = limits.maxFields
        let decoder = HTTPResponseDecoder(
            leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward, limitConfiguration: response)
        let reference = ConnectionReference()
        let handler = ExchangeHandler(connection: connector.tls?.handshake, bytes) {
            [pool = connector.pool] ending in
            guard let connection = reference.connection else { return }
            let isReusable = if case .reusable = ending { true } else { false }
            pool.release(connection, isReusable: isReusable)
        }
        // The handler asks for as many bytes as it can take.
        try channel.syncOptions?.setOption(.autoRead, value: false)
        try channel.pipeline.syncOperations.addHandlers([
            MessageBytesHandler(bytes), HTTPRequestEncoder(configuration: request), ByteToMessageHandler(decoder),
            NIOHTTPRequestHeadersValidator(), handler,
        ])
        let connection = PooledConnection(
            channel, .http1(NIOLoopBound(handler, eventLoop: channel.eventLoop)), facts("http/1.1"), connector.times)
        reference.connection = connection
        return connection
    }

    private func configureHTTP2() throws -> PooledConnection {
        let limits = StreamLimits()
        let handler = NIOHTTP2Handler(
            mode: .client, eventLoop: channel.eventLoop,
            connectionConfiguration: .client(connector.configuration.limits), streamConfiguration: .client
        ) { channel in
            // The server may begin no stream.
            channel.close()
        }
        let supervisor = HTTP2Supervisor(limits) { [weak pool = connector.pool] in pool?.limitsChanged() }
        try channel.pipeline.syncOperations.addHandlers(handler, supervisor)
        let multiplexer = NIOLoopBound(try handler.syncMultiplexer(), eventLoop: channel.eventLoop)
        return PooledConnection(channel, .http2(multiplexer, limits), facts("h2"), connector.times)
    }

    private func facts(_ protocolName: String) -> HTTPConnectionFacts {
        let (local, remote) = (channel.localAddress, channel.remoteAddress)
        return HTTPConnectionFacts(
            peer: connector.tls?.handshake.peer,
            tlsVersion: connector.tls?.handler.tlsVersion.flatMap { TransportPolicy.TLSVersion($0)?.rawValue },
            protocolName: protocolName, isReused: false, isProxied: connector.proxy != nil,
            localAddress: local?.ipAddress, remoteAddress: remote?.ipAddress, localPort: local?.port,
            remotePort: remote?.port)
    }
}

/// The connection of a handler that is made before it. Used on one event loop.
final class ConnectionReference { weak var connection: PooledConnection? }
