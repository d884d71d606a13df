// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix

/// A connection without TLS. Nothing is sent on it.
struct PlainProbe: Sendable {
    let server: ServerAddress
    let connectHost: String?
    /// Seconds.
    let timeout: Int

    /// Why there is no connection; nil if there is one. Must not be called on an event loop.
    func run() -> String? {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(Int64(timeout)))
        do {
            try bootstrap.connect(host: connectHost ?? server.host, port: server.port).flatMap { $0.close() }.wait()
            return nil
        } catch {
            return ConnectFailure.text(error)
        }
    }
}
