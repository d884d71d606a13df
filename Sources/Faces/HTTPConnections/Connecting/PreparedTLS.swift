// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOSSL
internal import TransportPolicy

/// The handler of one connection with TLS, made before the connection, because it takes the caller
/// and the log of the task that makes it.
///
/// Unchecked, because the task that makes the handler hands it to one event loop, and does not use
/// it again.
struct PreparedTLS: @unchecked Sendable {
    let handler: NIOSSLClientHandler
    let handshake: TLSHandshake
    let review: TimedReview?

    /// - Throws: if the policy allows no connection to the host.
    init(_ client: TLSClient, _ target: HTTPTarget, _ purpose: LoadPurpose, _ review: (any ServerReview)?)
        throws(HTTPFailure)
    {
        self.review = review.map(TimedReview.init)
        do throws(TLSRefusal) {
            (handler, handshake) = try client.handler(for: target.host, purpose: purpose, review: self.review)
        } catch {
            throw HTTPFailure(error)
        }
    }
}
