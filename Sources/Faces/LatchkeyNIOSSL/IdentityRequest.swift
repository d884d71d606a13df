// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import NIOCore
internal import NIOSSL
internal import TransportPolicy

/// Asks a review for the identity when the server of one connection asks for a certificate.
struct IdentityRequest: Sendable {
    private let server: ServerName
    private let review: any ServerReview
    private let handshake: TLSHandshake

    init(_ server: ServerName, _ review: any ServerReview, _ handshake: TLSHandshake) {
        (self.server, self.review, self.handshake) = (server, review, handshake)
    }

    /// BoringSSL calls it after the callback of ``PeerVerification`` has accepted the server.
    var callback: NIOSSLContextCallback {
        let start = BoundTask.starter()
        return { _, promise in
            guard handshake.peer != nil else {
                return promise.fail(TLSRefusal.identity("a certificate is shown to accepted servers only"))
            }
            start {
                do throws(TLSRefusal) {
                    promise.succeed(try await identity())
                } catch {
                    handshake.end(.failure(error))
                    promise.fail(error)
                }
            }
        }
    }

    private func identity() async throws(TLSRefusal) -> NIOSSLContextConfigurationOverride {
        var changes = NIOSSLContextConfigurationOverride.noChanges
        if let identity = try await review.identity(for: server) {
            changes.certificateChain = identity.certificateChain
            changes.privateKey = identity.privateKey
        }
        return changes
    }
}
