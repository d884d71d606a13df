// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import LatchkeyClient
internal import LatchkeyNIOSSL
@_spi(Loading) internal import LatchkeySecurity
internal import LatchkeyService
internal import LinuxSystem
internal import TransportPolicy

/// Asks a program about the server of a connection, and for the client's identity.
struct ServerChallenge: ServerReview {
    /// Of the connections of one session and one delegate.
    let identifier: Swift.ObjectIdentifier
    let host: String
    let port: Int
    let trust: PeerTrust
    let events: any LoadEvents
    /// The trust object of the last handshake, for errors.
    let lastTrust: LastTrust

    func answer(to evaluation: ServerEvaluation) async -> ServerAnswer {
        let serverTrust = serverTrust(evaluation.served, evaluation.verdict)
        lastTrust.value.withLock { $0 = serverTrust }
        let space = space(NSURLAuthenticationMethodServerTrust)
        space.attach(serverTrust: serverTrust)
        let answer = await events.answer(Self.challenge(space), isForConnection: true)
        switch answer.disposition {
        case .performDefaultHandling: return .default
        case .useCredential: return await Self.answer(answer.credential?.trust, evaluation)
        case .rejectProtectionSpace:
            return .refused(
                refusal(.serverCertificateUntrusted, "the program rejected the certificates of \(host)", evaluation))
        case .cancelAuthenticationChallenge: break
        }
        if answer.isLate {
            return .refused(refusal(.timedOut, "the program did not answer about \(host) in time", evaluation))
        }
        return .refused(refusal(.cancelled, "the program cancelled the challenge of \(host)", evaluation))
    }

    /// The trust object of a server that was refused without a challenge; nil if its certificates
    /// were not evaluated.
    func trust(of refusal: TLSRefusal?) -> SecTrust? {
        guard let refusal, let verdict = refusal.verdict, !refusal.served.isEmpty else { return nil }
        return serverTrust(refusal.served, verdict)
    }

    private func serverTrust(_ served: [Certificate], _ verdict: TrustVerdict) -> SecTrust {
        SecTrust(
            served: served, server: host, anchors: trust.anchors, isAnchorsOnly: trust.isAnchorsOnly,
            revocation: trust.revocation, systemAnchors: trust.systemAnchors, verdict: verdict)
    }

    /// The answer of a program that accepts the server with a trust object. If this is not about
    /// the server's certificate, or there is none, the policy decides alone.
    private static func answer(_ given: SecTrust?, _ evaluation: ServerEvaluation) async -> ServerAnswer {
        guard let given, given.leaf == evaluation.served.first else { return .default }
        let verdict = await Blocking.value { given.currentVerdict }
        let wasEvaluated = given.isEvaluatedByProgram
        if !wasEvaluated || !verdict.isTrusted { ProgramLog.current.warn(.serverAccepted(wasEvaluated: wasEvaluated)) }
        return verdict.isTrusted ? .evaluated(verdict) : .acceptedByProgram
    }

    func identity(for server: ServerName) async throws(TLSRefusal) -> TLSIdentity? {
        let challenge = Self.challenge(space(NSURLAuthenticationMethodClientCertificate))
        let answer = await events.answer(challenge, isForConnection: true)
        switch answer.disposition {
        case .useCredential:
            guard let credential = answer.credential, let identity = credential.identity else { return nil }
            return try TLSIdentity(
                identity, intermediates: credential.certificates.compactMap { $0 as? SecCertificate })
        case .performDefaultHandling, .rejectProtectionSpace: return nil
        case .cancelAuthenticationChallenge: break
        }
        if answer.isLate {
            throw TLSRefusal(.program, .timedOut, "the program gave \(host) no client certificate in time")
        }
        throw TLSRefusal(.program, .cancelled, "the program cancelled the challenge for a client certificate")
    }

    private func refusal(_ code: TransportErrorCode, _ explanation: String, _ evaluation: ServerEvaluation)
        -> TLSRefusal
    {
        TLSRefusal(.program, code, explanation, served: evaluation.served, verdict: evaluation.verdict)
    }

    private func space(_ method: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: port, protocol: SpaceKey.https, realm: nil, authenticationMethod: method)
    }

    private static func challenge(_ space: URLProtectionSpace) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
            sender: ChallengeSender())
    }
}

/// The last trust object that a load showed to its program.
final class LastTrust: Sendable {
    let value = SystemMutex<SecTrust?>(nil)
}

/// The sender that `URLAuthenticationChallenge` requires. A session is answered by completion
/// handlers; the methods of a sender have no effect, as with Apple's `URLSession`.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

/// Runs work that may block on a thread that Swift's tasks do not use.
enum Blocking {
    static func value<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        let bound = KeychainClient.boundFunction { (_: Void) in work() }
        return await withCheckedContinuation { continuation in
            pool.value.run { continuation.resume(returning: bound(())) }
        }
    }

    private static let pool = ForkLocal { BlockingCallPool() }
}
