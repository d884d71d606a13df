// SPDX-License-Identifier: Apache-2.0

import LatchkeyNIOSSL
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// How a connection ended.
struct Ending: Sendable {
    let handshake: TLSHandshake
    /// Whether the handshake was completed.
    var isCompleted = false
    /// The application protocol of the handshake.
    var applicationProtocol: String?
    /// The text that the peer sent.
    var received = ""
    /// The first error, with its name.
    var refusal: TLSRefusal?

    /// Whether a line has arrived. As characters, CR LF is one, and no LF.
    var hasLine: Bool { received.utf8.contains(0x0A) }
    var isAnswered: Bool { received.hasPrefix("HTTP/1.0 200 ok") }
}

/// Sends a text after the handshake, and collects everything until the end of the connection.
final class Conversation: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var ending: Ending
    private let text: String
    private let isAnswering: Bool
    private let promise: EventLoopPromise<Ending>

    init(
        _ handshake: TLSHandshake, sending text: String, endsAfter isAnswering: Bool,
        _ promise: EventLoopPromise<Ending>
    ) {
        (ending, self.text, self.isAnswering, self.promise) = (Ending(handshake: handshake), text, isAnswering, promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let name) = event as? TLSUserEvent {
            (ending.isCompleted, ending.applicationProtocol) = (true, name)
            if !isAnswering { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        ending.received += String(buffer: unwrapInboundIn(data))
        guard isAnswering, ending.hasLine else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After the answer, the peer may end the connection in any way.
        if ending.refusal == nil, !ending.hasLine {
            ending.refusal = ending.handshake.refusal(for: error)
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed(ending) }

    // MARK: Clients

    /// Asks for a page over a connection to 127.0.0.1, as if it were the host.
    static func request(_ client: TLSClient, _ host: String, port: Int) async throws -> Ending {
        let group = MultiThreadedEventLoopGroup.singleton
        let promise = group.next().makePromise(of: Ending.self)
        let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let (handler, handshake) = try client.handler(for: host)
                try channel.pipeline.syncOperations.addHandler(handler)
                try channel.pipeline.syncOperations.addHandler(
                    Conversation(handshake, sending: "GET / HTTP/1.0\r\n\r\n", endsAfter: false, promise))
            }
        }
        do {
            let channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            // A peer that does not answer must not stop the tests.
            let timeout = channel.eventLoop.scheduleTask(in: .minutes(2)) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in timeout.cancel() }
        } catch { promise.fail(error) }
        return try await promise.futureResult.get()
    }
}
