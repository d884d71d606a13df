// SPDX-License-Identifier: Apache-2.0

internal import NIOHTTP2

extension NIOHTTP2Handler.ConnectionConfiguration {
    /// Returns the limits of a client for a server. NIO's defaults limit floods of frames.
    static func client(_ limits: HTTPLimits) -> Self {
        var configuration = Self()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 0),
            HTTP2Setting(parameter: .maxHeaderListSize, value: limits.maxFieldBytes),
            HTTP2Setting(parameter: .initialWindowSize, value: NIOHTTP2Handler.StreamConfiguration.clientWindow),
        ]
        // Of all streams together: a server may send one or two for each response without a body.
        configuration.maximumSequentialEmptyDataFrames = 4 * StreamLimits.usualMaxStreams
        configuration.targetWindowSize = 4 * NIOHTTP2Handler.StreamConfiguration.clientWindow
        return configuration
    }
}

extension NIOHTTP2Handler.StreamConfiguration {
    /// How much of a body a server may send before it is read.
    fileprivate static var clientWindow: Int { 256 * 1024 }

    static var client: Self {
        var configuration = Self()
        configuration.targetWindowSize = clientWindow
        configuration.outboundBufferSizeHighWatermark = 128 * 1024
        configuration.outboundBufferSizeLowWatermark = 32 * 1024
        return configuration
    }
}
