// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2

/// What concerns a whole connection of HTTP/2: the server's settings, and its end.
final class HTTP2Supervisor: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let limits: StreamLimits
    private let changed: () -> Void

    /// - Parameter changed: called when the limits have changed.
    init(_ limits: StreamLimits, changed: @escaping () -> Void) { (self.limits, self.changed) = (limits, changed) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data).payload {
        case .settings(.settings(let settings)):
            guard let count = settings.last(where: { $0.parameter == .maxConcurrentStreams })?.value else { return }
            limits.setMaxStreams(count)
            changed()
        case .goAway: drain()
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Errors of one stream are its own.
        if error is NIOHTTP2Errors.StreamError { return }
        drain()
        context.close(promise: nil)
    }

    private func drain() {
        limits.drain()
        changed()
    }
}
