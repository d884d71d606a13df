// SPDX-License-Identifier: Apache-2.0

import LatchkeyNIOSSL
import NIOCore
import NIOHTTP1
import NIOSSL

/// Greets each client by the subject of its certificate.
final class Greeting: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let handshake: TLSHandshake

    init(_ handshake: TLSHandshake) { self.handshake = handshake }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        // A request is read after the handshake only, so there is an accepted client.
        guard let client = handshake.peer?.chain?.leaf else { return context.close(promise: nil) }
        let name = client.subjectSummary ?? "a client without a name"
        Log.write("accepted: \(name)")
        let body = ByteBuffer(string: "Hello, \(name).\n")
        let fields = HTTPHeaders([("content-length", "\(body.readableBytes)"), ("content-type", "text/plain")])
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A client that only closes its side is no failure.
        if handshake.peer == nil || !(error is NIOSSLError) {
            Log.write("refused: \(handshake.refusal(for: error))")
        }
        context.close(promise: nil)
    }
}
