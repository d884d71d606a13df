// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import LinuxSystem
public import TransportPolicy

/// The result of the handshake of one connection, to be read at any time and by any thread.
///
/// The result of the certificates is set before the handshake ends. A connection may only be used
/// after `TLSUserEvent.handshakeCompleted`.
public final class TLSHandshake: Sendable {
    /// A peer with accepted certificates.
    public struct Peer: Sendable {
        /// From the leaf to the anchor; nil if the program accepted the server without a valid chain.
        public let chain: ValidatedChain?
        public let verdict: TrustVerdict
        /// The certificates that the peer sent, leaf first.
        public let served: [Certificate]
        /// Failures of pins that are only to be reported.
        public let reports: [PinFailure]
    }

    private let result = SystemMutex<Result<Peer, TLSRefusal>?>(nil)

    init() {}

    /// The peer with accepted certificates; nil if they were refused or not evaluated.
    public var peer: Peer? { try? result.withLock { $0 }?.get() }

    /// Why the peer was refused; nil if it was not, or if the handshake failed for another reason (see
    /// ``refusal(for:)``).
    public var refusal: TLSRefusal? {
        guard case .failure(let refusal) = result.withLock({ $0 }) else { return nil }
        return refusal
    }

    func end(_ result: Result<Peer, TLSRefusal>) { self.result.withLock { $0 = result } }
}
