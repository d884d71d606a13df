// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import HTTPConnections
import KeychainTesting
import LatchkeyNIOSSL
import NIOCore
import NIOSSL
import Testing
import TransportPolicy

/// Handshakes: pins, refusals, the review of a program, and servers that cheat.
@Suite("Handshakes of connections")
struct HandshakeTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let hello: ScriptedServer.Script = [
        .request, .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ]

    private func pins(_ pin: Pin) throws -> PinConfiguration {
        let rule = try DomainRule(DomainName("localhost"))
        return try PinConfiguration([PinSet(rule, [PinRequirement(.leaf, [pin])], requiresBackup: false)])
    }

    private func ownPin() throws -> PinConfiguration { try pins(Pin(try lab.certificate(lab.identity))) }

    /// Returns a server with a certificate of the other CA.
    private func stranger() async throws -> ScriptedServer {
        let names = OpenSSLAuthority.server("DNS:localhost")
        let identity = try lab.other.issue("/CN=localhost", names, by: lab.other.intermediate)
        return try await ScriptedServer(
            [Self.hello], lab.context(["http/1.1"], identity, intermediates: [lab.other.intermediate]))
    }

    // MARK: Pins

    @Test("A server with the pinned key is accepted, and one with another key is refused before a request is sent")
    func pinned() async throws {
        let server = try await ScriptedServer([Self.hello], lab.context())
        let right = try lab.connections(pins: ownPin())
        #expect(try await right.answer(server.secureURL).text == "ok")
        let wrong = try lab.connections(pins: pins(Pin(try lab.certificate(lab.other.root))))
        let failure = await wrong.failure(server.secureURL)
        #expect(failure?.refusal?.pinFailures.count == 1 && failure?.code == .serverCertificateUntrusted)
        #expect(server.received.all.last?.count == 0)
    }

    @Test("A man in the middle with a trusted CA is refused by the pin")
    func middle() async throws {
        let server = try await stranger()
        let trust = PeerTrust.only([try lab.certificate(lab.authority.root), try lab.certificate(lab.other.root)])
        let trusting = try lab.connections { $0.trust = trust }
        #expect(try await trusting.answer(server.secureURL).text == "ok")
        let pinned = try lab.connections(pins: ownPin()) { $0.trust = trust }
        #expect(await pinned.failure(server.secureURL)?.refusal?.pinFailures.count == 1)
    }

    @Test("A server with an unknown CA, and one with another name, are refused with the reason")
    func untrusted() async throws {
        let server = try await stranger()
        let failure = await (try lab.connections()).failure(server.secureURL)
        // The unknown CA has the name of the trusted one, and another key.
        #expect(failure?.refusal?.trustFailure?.rule == .keyIdentifier, "\(String(describing: failure))")
        #expect(failure?.code == .serverCertificateUntrusted)
        let named = try await ScriptedServer(
            [Self.hello], lab.context(["http/1.1"], try lab.authority.server("other.example.com")))
        let other = await (try lab.connections()).failure(named.secureURL)
        #expect(other?.refusal?.trustFailure?.rule == .serverName)
    }

    // MARK: Review

    @Test("A review sees the server's certificates and the policy's verdict, once for each handshake")
    func seen() async throws {
        let server = try await stranger()
        let reviewer = Reviewer()
        _ = await (try lab.connections()).failure(server.secureURL, review: reviewer)
        let evaluation = try #require(reviewer.evaluations.first)
        #expect(reviewer.questions == 1 && evaluation.served.count == 2 && !evaluation.verdict.isTrusted)
        #expect(evaluation.refusal?.trustFailure?.rule == .keyIdentifier)
    }

    @Test("A review can refuse a trusted server, before a request is sent")
    func refused() async throws {
        let server = try await ScriptedServer([Self.hello], lab.context())
        let refusal = TLSRefusal(.other, .cancelled, "the program said no")
        let reviewer = Reviewer { _ in .refused(refusal) }
        let failure = await (try lab.connections()).failure(server.secureURL, review: reviewer)
        #expect(failure?.code == .cancelled && failure?.explanation == "the program said no")
        #expect(server.received.all.allSatisfy { $0.count == 0 })
    }

    @Test("Another evaluation of a review is accepted, but the pins are applied to it", arguments: [true, false])
    func evaluated(_ isPinned: Bool) async throws {
        let server = try await stranger()
        let root = try lab.certificate(lab.other.root)
        let reviewer = Reviewer { evaluation in
            let time = Date().timeIntervalSince1970
            var own = TrustEvaluation(
                evaluation.served, policies: [.server(evaluation.requirements.server)], at: time)
            (own.anchors, own.isAnchorsOnly) = ([root], true)
            return .evaluated(own.verdict())
        }
        let pins = isPinned ? try ownPin() : PinConfiguration()
        let failure = await (try lab.connections(pins: pins)).failure(server.secureURL, review: reviewer)
        #expect((failure == nil) == !isPinned, "\(String(describing: failure))")
        #expect(failure?.refusal?.pinFailures.count == (isPinned ? 1 : nil))
    }

    @Test(
        "A program may accept an untrusted server only where the policy leaves that to it",
        arguments: [(true, false, true), (false, false, false), (true, true, false)])
    func accepted(_ allowsInsecureLoads: Bool, _ isPinned: Bool, _ isAccepted: Bool) async throws {
        let server = try await stranger()
        let pins = isPinned ? try ownPin() : PinConfiguration()
        let connections = try lab.connections(pins: pins) {
            if !allowsInsecureLoads { $0.policy = ConnectionPolicy(pins: pins) }
        }
        let reviewer = Reviewer { _ in .acceptedByProgram }
        let answer = try? await connections.answer(server.secureURL, review: reviewer)
        #expect((answer != nil) == isAccepted && reviewer.questions == 1)
        #expect(answer?.exchange.connection.peer?.chain == nil)
    }

    @Test("The time that a review takes does not count, and that of a silent server does", .long)
    func reviewTime() async throws {
        let server = try await ScriptedServer([Self.hello], lab.context())
        let reviewer = Reviewer { _ in
            _ = try? await Task.sleep(for: .seconds(21))
            return .default
        }
        let connections = try lab.connections { $0.connectTimeout = .seconds(20) }
        #expect(try await connections.answer(server.secureURL, review: reviewer).text == "ok")
        let silent = try await ScriptedServer([[]])
        let short = try lab.connections { $0.connectTimeout = .milliseconds(300) }
        #expect(await short.failure(silent.secureURL)?.code == .timedOut)
        #expect(await eventuallyInTask { ClientSockets.count(to: silent.port) == 0 })
    }

    @Test("A cancelled task ends during the review")
    func cancelled() async throws {
        let server = try await ScriptedServer([Self.hello], lab.context())
        let connections = try lab.connections()
        let (waiting, go) = AsyncStream.makeStream(of: Void.self)
        let reviewer = Reviewer { _ in
            for await _ in waiting {}
            return .default
        }
        let url = server.secureURL
        let task = Task { await connections.failure(url, review: reviewer) }
        #expect(await eventuallyInTask { reviewer.questions == 1 })
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
        go.finish()
    }

    @Test(
        "A review is asked for an identity only by a server that asks for a certificate, after it was accepted",
        arguments: [(false, true, 0), (true, true, 1), (true, false, 0)])
    func identities(_ isAsking: Bool, _ isAccepted: Bool, _ count: Int) async throws {
        let context = try lab.context { if isAsking { $0.certificateVerification = .optionalVerification } }
        let server = try await ScriptedServer([Self.hello], context)
        let reviewer = Reviewer { _ in isAccepted ? .default : .refused(TLSRefusal(.other, .cancelled, "no")) }
        let answer = try? await lab.connections().answer(server.secureURL, review: reviewer)
        #expect((answer != nil) == isAccepted && reviewer.identityQuestions.value == count)
    }

    @Test("A server that requires a certificate is the reason, also if it says so after the handshake of the client")
    func certificateRequired() async throws {
        let context = try lab.context { $0.certificateVerification = .noHostnameVerification }
        let server = try await ScriptedServer([Self.hello], context)
        let connections = try lab.connections()
        // The alert comes before the request or after it.
        for _ in 0..<50 {
            let failure = await connections.failure(server.secureURL)
            #expect(failure?.code == .clientCertificateRequired, "\(String(describing: failure))")
        }
    }

    // MARK: Hostile

    @Test(
        "A server that breaks the handshake gets an error, and its connection is closed", .serialized,
        arguments: ["end", "no TLS", "end in a record", "alert", "huge record"])
    func broken(_ kind: String) async throws {
        let steps: ScriptedServer.Script =
            switch kind {
            case "end": [.bytes(1), .close]
            case "no TLS": [.bytes(1), .text("HTTP/1.1 400 Bad Request\r\n\r\n")]
            case "end in a record": [.bytes(1), .send([0x16, 3, 3, 0, 100, 2]), .close]
            case "alert": [.bytes(1), .send([0x15, 3, 3, 0, 2, 2, 40])]
            default: [.bytes(1), .send([0x16, 3, 3, 0xFF, 0xFF]), .flood([UInt8](repeating: 0, count: 4096))]
            }
        let server = try await ScriptedServer([steps])
        let failure = await (try lab.connections()).failure(server.secureURL)
        #expect(failure?.code == .secureConnectionFailed, "\(String(describing: failure))")
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }

    @Test("A certificate of a megabyte is refused")
    func largeCertificate() async throws {
        let names = (0..<40_000).map { "DNS:name\($0).example.com" }.joined(separator: ",")
        let identity = try lab.authority.issue(
            "/CN=localhost", OpenSSLAuthority.server("DNS:localhost,\(names)"), by: lab.authority.intermediate)
        #expect(identity.der.count > 800_000)
        let server = try await OpenSSLServer(identity, of: lab.authority)
        let failure = await (try lab.connections()).failure("https://localhost:\(server.port)/")
        #expect(failure?.code == .secureConnectionFailed, "\(String(describing: failure))")
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }
}
