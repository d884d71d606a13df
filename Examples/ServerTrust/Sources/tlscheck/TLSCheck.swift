// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FoundationNetworking
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
@_spi(Loading) import Security
import Synchronization
import TrustDelegate

/// Connects to a TLS server, and asks an app's delegate whether to accept it.
@main
struct TLSCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tlscheck", abstract: "Check a TLS server with an app's delegate.")

    @Argument(help: "The port on this machine.") var port: Int
    @Argument(help: "The expected host name.") var host: String
    @Option(help: "A certificate that the server must have, in DER.") var certificate: [String] = []
    @Option(help: "SHA-256 of a public key that the chain must contain, in base64.") var key: [String] = []
    @Option(help: "A CA certificate of the app, in DER.") var anchor: [String] = []
    @Flag(help: "Trust no other CA certificates.") var only = false

    func run() throws {
        var expectations = TrustDelegate.Expectations()
        expectations.certificates = try certificate.map { try Data(contentsOf: URL(filePath: $0)) }
        expectations.keys = key
        expectations.anchors = try anchor.map { try Data(contentsOf: URL(filePath: $0)) }
        expectations.trustsSystem = !only
        let adapter = DelegateAdapter(expectations, host)

        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        let client = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).channelInitializer {
            [host] channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = try NIOSSLClientHandler(
                    context: context, serverHostname: host,
                    customVerificationCallback: { chain, promise in
                        promise.succeed(adapter.accepts(chain) ? .certificateVerified : .failed)
                    })
                try channel.pipeline.syncOperations.addHandlers(handler, Completion())
            }
        }
        let channel = try client.connect(host: "127.0.0.1", port: port).wait()
        let done = try? channel.closeFuture.wait()
        _ = done
        if let reason = adapter.reason {
            print("refused: \(reason)")
            throw ExitCode.failure
        }
        print("trusted")
    }
}

/// Passes a server's certificates to a delegate, in the form of URLSession on Apple's platforms.
private final class DelegateAdapter: Sendable {
    private let host: String
    private let expectations: TrustDelegate.Expectations
    private let verdict = Mutex<String?>("the handshake ended before the server sent its certificates")

    init(_ expectations: TrustDelegate.Expectations, _ host: String) {
        self.expectations = expectations
        self.host = host
    }

    /// The reason why the server was refused; nil if it was accepted.
    var reason: String? { verdict.withLock { $0 } }

    func accepts(_ chain: [NIOSSLCertificate]) -> Bool {
        // An additional value that is not a certificate must not invalidate the others.
        let certificates = chain.compactMap { try? SecCertificateCreateWithData(nil, Data($0.toDERBytes()) as CFData) }
        var trust: SecTrust?
        guard
            SecTrustCreateWithCertificates(certificates, SecPolicyCreateSSL(true, host as CFString), &trust)
                == errSecSuccess, let trust
        else { return false }
        let space = URLProtectionSpace(
            host: host, port: 443, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust)
        space.attach(serverTrust: trust)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
            sender: UnusedChallengeSender())
        let delegate: any URLSessionDelegate = TrustDelegate(expectations) { problem in
            self.verdict.withLock { $0 = problem }
        }
        let answer = Answer()
        delegate.urlSession(.shared, didReceive: challenge) { disposition, _ in answer.accept(disposition) }
        guard answer.isAccepted else { return false }
        verdict.withLock { $0 = nil }
        return true
    }
}

/// The delegate's decision, from any thread; refusal until then.
private final class Answer: Sendable {
    private let accepted = Mutex(false)

    var isAccepted: Bool { accepted.withLock { $0 } }

    func accept(_ disposition: URLSession.AuthChallengeDisposition) {
        let isAccepted = disposition == .useCredential
        accepted.withLock { $0 = isAccepted }
    }
}

/// Closes the connection after the handshake.
private final class Completion: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

private final class UnusedChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
