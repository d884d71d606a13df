// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOHTTP1
internal import TransportPolicy

/// Sends requests and receives their responses, one at a time: the last handler of a connection of
/// HTTP/1.1, or of a stream of HTTP/2. Used on its event loop only.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// How an exchange ended.
    enum Ending: Sendable {
        /// The connection can be used for another exchange.
        case reusable
        case closed
        /// The server did not answer in time, or broke HTTP: the connection takes no further requests.
        case unhealthy
    }

    let isMultiplexed: Bool
    let handshake: TLSHandshake?
    private let bytes: MessageBytes?
    private let limits: StreamLimits?
    private let ended: (Ending) -> Void

    private(set) var context: ChannelHandlerContext?
    private var exchange: ActiveExchange?
    private var review = ResponseReview(HTTPLimits(), isMultiplexed: false)
    private var (hasHead, keepsAlive, isPaused) = (false, false, false)
    private var hasReceived = false
    private var hasBegun = false
    /// Why the connection failed before its first exchange. With TLS 1.3, a server refuses a client's
    /// certificate after the handshake of the client.
    private var earlyFailure: AttemptFailure?
    private let writer: RequestWriter
    private var inactivity: InactivityTimer?

    /// For a connection of HTTP/1.1.
    ///
    /// - Parameters:
    ///   - handshake: nil without TLS.
    ///   - bytes: counts the received bytes.
    ///   - ended: called after each exchange.
    init(connection handshake: TLSHandshake?, _ bytes: MessageBytes, ended: @escaping (Ending) -> Void) {
        (isMultiplexed, self.handshake, self.bytes, limits, self.ended) = (false, handshake, bytes, nil, ended)
        writer = RequestWriter()
    }

    /// For a stream of HTTP/2.
    ///
    /// - Parameters:
    ///   - limits: of its connection.
    ///   - ended: called after the exchange.
    init(stream limits: StreamLimits?, ended: @escaping (Ending) -> Void) {
        (isMultiplexed, handshake, bytes, self.limits, self.ended) = (true, nil, nil, limits, ended)
        writer = RequestWriter()
    }

    // MARK: The program's side

    func begin(_ exchange: ActiveExchange) {
        guard let context, context.channel.isActive, self.exchange == nil else {
            exchange.failed(
                earlyFailure ?? ChannelErrors.lost("the connection was closed before the request was sent"))
            return ended(.closed)
        }
        (self.exchange, hasBegun) = (exchange, true)
        review = ResponseReview(exchange.limits, isMultiplexed: isMultiplexed)
        (hasHead, keepsAlive, isPaused, hasReceived) = (false, false, false, false)
        bytes?.begin()
        inactivity = InactivityTimer(exchange.inactivity, context.eventLoop) { [weak self] in self?.isOverdue() }
        exchange.began()
        writer.begin(exchange, context) { [weak self] in self?.inactivity?.reset() }
        context.read()
    }

    func cancel(_ exchange: ActiveExchange, _ failure: AttemptFailure) {
        guard exchange === self.exchange else { return exchange.failed(failure) }
        fail(failure)
    }

    func send(_ chunk: ByteBuffer, for exchange: ActiveExchange, _ promise: EventLoopPromise<Void>) {
        guard exchange === self.exchange else { return promise.fail(CancellationError()) }
        writer.send(chunk, promise)
    }

    func endBody(of exchange: ActiveExchange) { if exchange === self.exchange { writer.end() } }

    func resumeReading() {
        guard isPaused, exchange != nil else { return }
        isPaused = false
        inactivity?.reset()
        context?.read()
    }

    // MARK: The connection's side

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange else { return context.close(promise: nil) }
        hasReceived = true
        inactivity?.reset()
        do throws(HTTPFailure) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                guard !hasHead else { throw HTTPFailure(.cannotParseResponse, "a response has a second head") }
                guard let response = try review.head(head) else { return }
                (hasHead, keepsAlive) = (true, head.isKeepAlive)
                exchange.received(response)
            case .body(let chunk):
                bytes?.receiveBody(chunk.readableBytes)
                if chunk.readableBytes > 0, !exchange.body.append(chunk) { isPaused = true }
            case .end(let trailers):
                guard hasHead else { throw HTTPFailure(.cannotParseResponse, "a response has no head") }
                try review.trailers(trailers)
                complete(exchange)
            }
        } catch {
            fail(AttemptFailure(failure: error), as: .unhealthy)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isPaused, exchange != nil { context.read() }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writer.writabilityChanged()
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(ChannelErrors.lost("the server ended the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let failure = ChannelErrors.failure(error, handshake, limits)
        if !hasBegun, earlyFailure == nil { earlyFailure = failure }
        fail(failure)
        context.close(promise: nil)
    }

    // MARK: Endings

    private func complete(_ exchange: ActiveExchange) {
        let isSent = writer.isDone
        let isReusable = !isMultiplexed && keepsAlive && isSent
        finish()
        // The connection is free before the reader sees the end, so that its next request can use it.
        if isReusable {
            // An unsolicited byte of the server, read while the connection is idle, closes it.
            context?.read()
            ended(.reusable)
        } else {
            // A stream closes itself when both sides have ended. To close it would send RST_STREAM, and servers accept
            // a limited number of these.
            if !isMultiplexed || !isSent { context?.close(promise: nil) }
            ended(.closed)
        }
        exchange.ended()
    }

    private func fail(_ failure: AttemptFailure, as ending: Ending = .closed) {
        guard let exchange else { return }
        finish()
        var failure = failure
        let hasBytes = hasReceived || (bytes?.received ?? 0) > 0
        if hasBytes, failure.repetition == .ifRepeatable { failure.repetition = .none }
        context?.close(promise: nil)
        // The pool knows first, so that the next request gets another connection.
        ended(ending)
        exchange.failed(failure)
    }

    private func finish() {
        exchange = nil
        inactivity?.cancel()
        inactivity = nil
        writer.stop()
    }

    /// Ends an overdue exchange. Waiting for a program that reads or writes slowly is no inactivity.
    private func isOverdue() {
        guard let exchange else { return }
        guard !isPaused, !writer.waitsForProgram else {
            inactivity?.reset()
            return
        }
        let limit = Double(exchange.inactivity.nanoseconds) / 1e9
        fail(
            AttemptFailure(failure: HTTPFailure(.timedOut, "nothing was received or sent for \(limit) seconds")),
            as: .unhealthy)
    }
}
