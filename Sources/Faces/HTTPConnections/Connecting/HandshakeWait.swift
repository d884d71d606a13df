// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOTLS
internal import TransportPolicy

/// Waits until a handshake ends.
final class HandshakeWait: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let handshake: TLSHandshake
    private let completed: EventLoopPromise<String?>

    /// - Parameter completed: gets the name of the application protocol.
    init(_ handshake: TLSHandshake, _ completed: EventLoopPromise<String?>) {
        (self.handshake, self.completed) = (handshake, completed)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted(let name) = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        completed.succeed(name)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let failure = error as? HTTPFailure ?? HTTPFailure(handshake.refusal(for: error))
        completed.fail(failure)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        completed.fail(
            handshake.refusal.map { HTTPFailure($0) }
                ?? HTTPFailure(
                    .secureConnectionFailed, "the server ended the connection before the handshake was complete"))
    }
}
