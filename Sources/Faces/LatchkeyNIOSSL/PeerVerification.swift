// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyClient
internal import LinuxSystem
internal import NIOCore
internal import NIOSSL
internal import TransportPolicy

/// The decision about the certificates of a peer, instead of BoringSSL's own.
struct PeerVerification: Sendable {
    enum Peer: Sendable {
        case server(TLSRequirements)
        case client
    }

    let peer: Peer
    let trust: PeerTrust
    let handshake: TLSHandshake
    /// Asked about servers; nil accepts every server that the policy accepts.
    var review: (any ServerReview)?

    /// The most certificates of a peer that are read. BoringSSL limits their length to 100 KiB.
    static let maxCertificates = 32

    /// The callback for a handler. It reads the presented certificates on the event loop, and decides
    /// on a thread that may block.
    ///
    /// - Parameter version: the negotiated version; called on the event loop.
    func callback(version: @escaping () -> NIOSSL.TLSVersion?) -> NIOSSLCustomVerificationCallbackWithMetadata {
        let evaluate = KeychainClient.boundFunction { (presented: Presented) in evaluation(presented) }
        let start = BoundTask.starter()
        return { certificates, promise in
            let presented = Presented(certificates.prefix(Self.maxCertificates), version())
            BlockingWork.run {
                switch evaluate(presented) {
                case .ended(let result): promise.succeed(end(result, presented))
                case .reviewed(let evaluation, let decision, let review):
                    start { promise.succeed(end(await decision.result(of: evaluation, review), presented)) }
                }
            }
        }
    }

    /// The evaluation of a peer, before the handshake ends.
    private enum Evaluation: Sendable {
        case ended(Result<TLSHandshake.Peer, TLSRefusal>)
        /// The server is reviewed.
        case reviewed(ServerEvaluation, ServerDecision, any ServerReview)
    }

    /// The certificates that a peer has sent until now, with the version.
    private struct Presented: Sendable {
        private let originals: [NIOSSLCertificate]
        /// DER, leaf first.
        let certificates: [Result<[UInt8], any Error>]
        let version: NIOSSL.TLSVersion?

        init(_ certificates: ArraySlice<NIOSSLCertificate>, _ version: NIOSSL.TLSVersion?) {
            (originals, self.version) = (Array(certificates), version)
            self.certificates = certificates.map { certificate in Result { try certificate.toDERBytes() } }
        }

        /// BoringSSL's form of a certificate; nil if BoringSSL cannot read it. One that the peer has sent
        /// is not parsed again.
        func original(_ certificate: Certificate) -> NIOSSLCertificate? {
            let index = certificates.firstIndex { (try? $0.get()) == certificate.der }
            return index.map { originals[$0] } ?? (try? NIOSSLCertificate(bytes: certificate.der, format: .der))
        }
    }

    /// Sets the result of the handshake.
    private func end(
        _ result: Result<TLSHandshake.Peer, TLSRefusal>, _ presented: Presented
    ) -> NIOSSLVerificationResultWithMetadata {
        guard case .success(let peer) = result else {
            handshake.end(result)
            return .failed
        }
        let chain = peer.chain.map { Self.nioChain($0, presented) }
        guard chain != .some(nil) else {
            // A chain that BoringSSL cannot represent has no certificate that it accepted.
            handshake.end(.failure(Self.unreadable("the validated chain cannot be handed to BoringSSL")))
            return .failed
        }
        handshake.end(result)
        return .certificateVerified(VerificationMetadata(chain ?? nil))
    }

    private func evaluation(_ presented: Presented) -> Evaluation {
        let certificates = presented.certificates.map { encoded in
            Result { try KnownCertificates.shared.certificate(der: try encoded.get()) }
        }
        guard case .success(let leaf) = certificates.first else {
            let problem = certificates.first.map { "\($0)" } ?? "it sent none"
            return .ended(
                .failure(Self.unreadable("the peer must send a certificate that can be read, found: \(problem)")))
        }
        // Others that cannot be read cannot be a part of the chain.
        let served = [leaf] + certificates.dropFirst().compactMap { try? $0.get() }
        let time = WallClock.now
        switch peer {
        case .server(let requirements):
            let verdict = trust.verdict(on: served, .server(requirements.server), at: time)
            let decision = ServerDecision(requirements, served, presented.version, trust, at: time)
            guard let review else { return .ended(decision.result(verdict)) }
            let evaluation = ServerEvaluation(
                requirements: requirements, served: served, verdict: verdict, refusal: decision.refusal(verdict))
            return .reviewed(evaluation, decision, review)
        case .client: return .ended(client(served, time))
        }
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

    private static func nioChain(_ chain: ValidatedChain, _ presented: Presented) -> ValidatedCertificateChain? {
        let certificates = chain.certificates.compactMap(presented.original)
        return certificates.count == chain.certificates.count ? ValidatedCertificateChain(certificates) : nil
    }
}
