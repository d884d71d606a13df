// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOSSL

/// Examines each new connection of a client before its first request, and closes those that the
/// policy does not allow.
struct ConnectionGate: Sendable {
    private let policy: LeafPolicy

    init(_ policy: LeafPolicy) { self.policy = policy }

    /// Succeeds if the connection may be used. The client calls this after the TLS handshake.
    func examine(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture(Result { try refuseUnlessAllowed(channel) })
            // The client does not close connections that its initializer refuses.
            .flatMapErrorWithEventLoop { error, loop in
                channel.close().recover { _ in }.flatMap { loop.makeFailedFuture(error) }
            }
    }

    private func refuseUnlessAllowed(_ channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        guard let handler = try? pipeline.handler(type: NIOSSLHandler.self) else {
            throw TLSRefusal.insecureHTTP
        }
        guard let presented = try pipeline.nioSSL_peerCertificate() else { throw TLSRefusal.noCertificate }
        try policy.allow(try Certificate(der: presented.toDERBytes()), handler.tlsVersion)
    }
}
