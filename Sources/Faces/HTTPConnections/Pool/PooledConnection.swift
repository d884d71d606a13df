// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2

/// A connection after its handshake.
final class PooledConnection: Sendable {
    enum Kind: Sendable {
        case http1(NIOLoopBound<ExchangeHandler>)
        case http2(NIOLoopBound<NIOHTTP2Handler.StreamMultiplexer>, StreamLimits)
    }

    let channel: any Channel
    let kind: Kind
    let facts: HTTPConnectionFacts
    /// How it was made.
    let times: HTTPTimes

    init(_ channel: any Channel, _ kind: Kind, _ facts: HTTPConnectionFacts, _ times: HTTPTimes) {
        (self.channel, self.kind, self.facts, self.times) = (channel, kind, facts, times)
    }

    var isMultiplexed: Bool { if case .http2 = kind { true } else { false } }

    /// Nil for HTTP/1.1.
    var limits: StreamLimits? { if case .http2(_, let limits) = kind { limits } else { nil } }

    func close() { channel.close(promise: nil) }
}
