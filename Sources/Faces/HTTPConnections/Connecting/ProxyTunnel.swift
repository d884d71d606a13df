// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import TransportPolicy

/// Asks a proxy for a tunnel to a server (RFC 9110, section 9.3.6), before anything else is sent.
final class ProxyTunnel: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let target: HTTPTarget
    private let proxy: HTTPProxy
    private let opened: EventLoopPromise<Void>
    private var received = ByteBuffer()

    private static let maxLength = 16 * 1024

    init(_ target: HTTPTarget, _ proxy: HTTPProxy, _ opened: EventLoopPromise<Void>) {
        (self.target, self.proxy, self.opened) = (target, proxy, opened)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let authority = "\(target.bracketedHost):\(target.port)"
        let fields = ["Host: \(authority)"] + (proxy.authorization.map { ["Proxy-Authorization: \($0)"] } ?? [])
        let head = (["CONNECT \(authority) HTTP/1.1"] + fields + ["", ""]).joined(separator: "\r\n")
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        guard let end = received.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else {
            if received.readableBytes > Self.maxLength { fail(context, "its answer is too long") }
            return
        }
        let line = String(decoding: received.readableBytesView.prefix { $0 != 0x0D }, as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            return fail(context, "its answer is not HTTP/1.1")
        }
        guard status != 407 else { return refuse(context, headLength: end - received.readerIndex) }
        guard 200...299 ~= status else { return fail(context, "it answered \(status)") }
        guard end == received.writerIndex else { return fail(context, "it sent more than its answer") }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        opened.succeed()
    }

    func channelInactive(context: ChannelHandlerContext) { fail(context, "it ended the connection") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(context, "\(error)") }

    /// Ends with the challenge of an answer 407.
    private func refuse(_ context: ChannelHandlerContext, headLength: Int) {
        let head = String(decoding: received.readableBytesView.prefix(headLength), as: UTF8.self)
        let fields = head.split(separator: "\r\n").dropFirst().compactMap { line -> HTTPField? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let (name, value) = (String(line[..<colon]), line[line.index(after: colon)...])
            guard HTTPField.isToken(name) else { return nil }
            return HTTPField(name, String(value.drop { $0 == " " || $0 == "\t" }))
        }
        let challenge = HTTPProxyChallenge(proxy: proxy.place, fields: fields)
        opened.fail(HTTPFailure(challenge, explanation("it answered 407, and requires another password")))
        context.close(promise: nil)
    }

    private func fail(_ context: ChannelHandlerContext, _ reason: String) {
        opened.fail(HTTPFailure(.cannotConnectToHost, explanation(reason)))
        context.close(promise: nil)
    }

    private func explanation(_ reason: String) -> String {
        "the proxy \(proxy.host):\(proxy.port) made no connection to \(target.host): \(reason)"
    }
}
