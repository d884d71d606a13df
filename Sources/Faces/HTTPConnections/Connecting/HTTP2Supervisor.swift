// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2

/// The handler for a whole connection of HTTP/2: the server's settings, and its end.
final class HTTP2Supervisor: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let limits: StreamLimits
    private let changed: () -> Void
    private var hasSettings = false

    /// - Parameter changed: called when the limits have changed.
    init(_ limits: StreamLimits, changed: @escaping () -> Void) { (self.limits, self.changed) = (limits, changed) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data).payload {
        case .settings(.settings(let settings)):
            let count = settings.last { $0.parameter == .maxConcurrentStreams }?.value
            let isFirst = !hasSettings
            hasSettings = true
            guard let count = count ?? (isFirst ? StreamLimits.usualMaxStreams : nil) else { return }
            limits.setMaxStreams(count)
            changed()
        case .goAway(let lastStream, _, _):
            limits.drain(after: Int(lastStream))
            changed()
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
