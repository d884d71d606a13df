// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyClient
internal import NIOCore
internal import NIOSSL
internal import TransportPolicy

/// The decision about the certificates of a peer, which replaces BoringSSL's own.
struct PeerVerification: Sendable {
    enum Peer: Sendable {
        case server(TLSRequirements)
        case client
    }

    let peer: Peer
    let trust: PeerTrust
    let handshake: TLSHandshake

    /// The most certificates of a peer that are read. BoringSSL limits their length to 100 KiB.
    static let maxCertificates = 32

    /// The callback for a handler. It reads the presented certificates on the event loop, and decides
    /// on a thread that may block.
    ///
    /// - Parameter version: the negotiated version; called on the event loop.
    func callback(version: @escaping () -> NIOSSL.TLSVersion?) -> NIOSSLCustomVerificationCallbackWithMetadata {
        let decision = KeychainClient.boundFunction { (presented: Presented) in decide(presented) }
        return { certificates, promise in
            let encoded = certificates.prefix(Self.maxCertificates).map { certificate in
                Result { try certificate.toDERBytes() }
            }
            let presented = Presented(certificates: encoded, version: version())
            BlockingWork.run(on: promise.futureResult.eventLoop) { .success(decision(presented)) }.cascade(to: promise)
        }
    }

    /// What a peer has sent until now.
    private struct Presented: Sendable {
        /// DER, leaf first.
        let certificates: [Result<[UInt8], any Error>]
        let version: NIOSSL.TLSVersion?
    }

    /// Decides, and sets the result of the handshake.
    private func decide(_ presented: Presented) -> NIOSSLVerificationResultWithMetadata {
        let result = result(presented)
        guard case .success(let peer) = result, let chain = Self.nioChain(peer.chain) else {
            // A chain that BoringSSL cannot represent has no certificate that it accepted.
            handshake.end(
                result.flatMap { _ in .failure(Self.unreadable("the validated chain cannot be handed to BoringSSL")) })
            return .failed
        }
        handshake.end(result)
        return .certificateVerified(VerificationMetadata(chain))
    }

    private func result(_ presented: Presented) -> Result<TLSHandshake.Peer, TLSRefusal> {
        let certificates = presented.certificates.map { encoded in Result { try Certificate(der: try encoded.get()) } }
        guard case .success(let leaf) = certificates.first else {
            let problem = certificates.first.map { "\($0)" } ?? "it sent none"
            return .failure(Self.unreadable("the peer must send a certificate that can be read, found: \(problem)"))
        }
        // Others that cannot be read cannot be a part of the chain.
        let served = [leaf] + certificates.dropFirst().compactMap { try? $0.get() }
        let time = WallClock.now
        switch peer {
        case .server(let requirements): return server(requirements, served, presented.version, time)
        case .client: return client(served, time)
        }
    }

    private func server(
        _ requirements: TLSRequirements, _ served: [Certificate], _ version: NIOSSL.TLSVersion?, _ time: Double
    ) -> Result<TLSHandshake.Peer, TLSRefusal> {
        let verdict = trust.verdict(on: served, .server(requirements.server), at: time)
        let negotiated = version.flatMap { TransportPolicy.TLSVersion($0) }
        var connection = NegotiatedConnection(
            negotiated, suite: requirements.offeredSuite(negotiated), verdict: verdict, served: served)
        connection.hasCertificateTransparency = trust.hasTransparency(verdict)
        let decision = requirements.verdict(on: connection, at: time)
        guard decision.isAccepted, let chain = ValidatedChain(verdict) else {
            let first = decision.violations.first
            return .failure(
                TLSRefusal(
                    .violations(decision.violations), first?.code ?? .serverCertificateUntrusted,
                    decision.violations.map(\.explanation).joined(separator: "; "), served: served, verdict: verdict))
        }
        return .success(TLSHandshake.Peer(chain: chain, verdict: verdict, served: served, reports: decision.reports))
    }

    private func client(_ served: [Certificate], _ time: Double) -> Result<TLSHandshake.Peer, TLSRefusal> {
        let verdict = trust.verdict(on: served, .client(nil), at: time)
        guard let chain = ValidatedChain(verdict) else {
            let reason = verdict.failure.map(verdict.explanation) ?? "the certificates were not accepted"
            return .failure(
                TLSRefusal(
                    .clientTrust(verdict.failure), .clientCertificateRejected, "the client is not trusted: \(reason)",
                    served: served, verdict: verdict))
        }
        return .success(TLSHandshake.Peer(chain: chain, verdict: verdict, served: served, reports: []))
    }

    private static func unreadable(_ explanation: String) -> TLSRefusal {
        TLSRefusal(.certificate, .serverCertificateUntrusted, explanation)
    }

    private static func nioChain(_ chain: ValidatedChain) -> ValidatedCertificateChain? {
        let certificates = chain.certificates.compactMap { try? NIOSSLCertificate(bytes: $0.der, format: .der) }
        return certificates.count == chain.certificates.count ? ValidatedCertificateChain(certificates) : nil
    }
}

extension TLSRequirements {
    /// A suite that the configuration offers for the version. NIOSSL does not tell which one was
    /// negotiated, and BoringSSL refuses a server that selects one that was not offered.
    fileprivate func offeredSuite(_ version: TransportPolicy.TLSVersion?) -> String {
        suites.first { ($0.keyExchange == .tls13) == (version == .tls13) }?.name ?? ""
    }
}
