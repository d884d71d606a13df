// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyURLSession
import Synchronization
import Testing
import TransportPolicy

/// Sessions of `URLSession` with delegates and pins, against servers with TLS on this machine.
@Suite("URLSession: server trust")
struct PinningTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// Returns the outcome of a request: the text of the response, or the code of the error.
    private func outcome(_ session: URLSession, _ server: WebServer) async -> String {
        do {
            let (data, response) = try await session.data(from: server.url())
            return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
        } catch { return "\((error as NSError).code)" }
    }

    private func server() async throws -> WebServer { try await WebServer(lab) { _ in .text("hello") } }

    private func server(_ identity: Lab.Issued, of authority: OpenSSLAuthority) async throws -> WebServer {
        try await WebServer((identity.file, identity.keyFile), chain: authority.intermediate.file) { _ in .text("hello")
        }
    }

    private func key(_ identity: Lab.Issued) throws -> Data {
        let certificate = try #require(SecCertificateCreateWithData(nil, identity.der as CFData))
        let key = try #require(SecCertificateCopyKey(certificate))
        return try #require(SecKeyCopyExternalRepresentation(key, nil) as Data?)
    }

    // MARK: Delegates of apps

    @Test("A delegate that compares the bytes of the certificate accepts its server and no other")
    func certificatePinning() async throws {
        let server = try await server()
        #expect(await outcome(try lab.session(CertificatePinning(lab.server.der)), server) == "200 hello")
        #expect(await outcome(try lab.session(CertificatePinning(lab.authority.root.der)), server) == "-999")
        #expect(server.requests.count == 1)
    }

    @Test("A delegate that compares the public key accepts its server, also with a renewed certificate")
    func publicKeyPinning() async throws {
        let (server, pinned) = (try await server(), try key(lab.server))
        #expect(await outcome(try lab.session(PublicKeyPinning([pinned])), server) == "200 hello")
        let other = try key(lab.authority.root)
        #expect(await outcome(try lab.session(PublicKeyPinning([other])), server) == "-999")
        let renewed = try await WebServer(
            (lab.renewal(of: lab.server), lab.server.keyFile), chain: lab.authority.intermediate.file
        ) { _ in .text("renewed") }
        #expect(await outcome(try lab.session(PublicKeyPinning([pinned])), renewed) == "200 renewed")
        #expect(await outcome(try lab.session(CertificatePinning(lab.server.der)), renewed) == "-999")
    }

    @Test("A delegate with the asynchronous form is asked if it conforms to LatchkeySessionDelegate")
    func asynchronous() async throws {
        let server = try await server()
        #expect(await outcome(try lab.session(AsynchronousPinning(lab.server.der)), server) == "200 hello")
        #expect(await outcome(try lab.session(AsynchronousPinning(Data())), server) == "-999")
    }

    // MARK: Answers

    @Test("The session's form is asked first, then the task's, and the protection space names the server")
    func challenge() async throws {
        let (server, delegate) = (try await server(), AnsweringDelegate { _ in (.performDefaultHandling, nil) })
        #expect(await outcome(try lab.session(delegate), server) == "200 hello")
        #expect(
            delegate.challenges.withLock { $0 } == [
                NSURLAuthenticationMethodServerTrust, "task \(NSURLAuthenticationMethodServerTrust)",
            ])
        #expect(delegate.spaces.withLock { $0 } == ["https://localhost:\(server.port)"])
    }

    @Test(
        "Each answer has the same meaning as on Apple's systems",
        arguments: [
            (.performDefaultHandling, "200 hello", "-1203"), (.cancelAuthenticationChallenge, "-999", "-999"),
            (.rejectProtectionSpace, "-1202", "-1202"), (.useCredential, "200 hello", "-1203"),
        ] as [(URLSession.AuthChallengeDisposition, String, String)])
    func answers(_ disposition: URLSession.AuthChallengeDisposition, _ trusted: String, _ untrusted: String)
        async throws
    {
        let server = try await server()
        let delegate = AnsweringDelegate { challenge in
            (disposition, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
        #expect(await outcome(try lab.session(delegate), server) == trusted)
        let stranger = PeerTrust.only([])
        #expect(await outcome(try lab.session(delegate, trust: stranger), server) == untrusted)
    }

    @Test("A program that sets the anchor of its own CA on the server's trust is believed")
    func ownAnchor() async throws {
        let server = try await server()
        let root = lab.authority.root.der
        let delegate = AnsweringDelegate { challenge in
            guard let trust = challenge.protectionSpace.serverTrust,
                let anchor = SecCertificateCreateWithData(nil, root as CFData)
            else { return (.cancelAuthenticationChallenge, nil) }
            SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
            guard SecTrustEvaluateWithError(trust, nil) else { return (.cancelAuthenticationChallenge, nil) }
            return (.useCredential, URLCredential(trust: trust))
        }
        #expect(await outcome(try lab.session(delegate, trust: .only([])), server) == "200 hello")
        // Pins still apply.
        let pinned = try lab.session(delegate, pins: [lab.authority.root.pin()], trust: .only([]))
        #expect(await outcome(pinned, server) == "-1202")
    }

    @Test("A trust of another certificate accepts nothing")
    func otherTrust() async throws {
        let server = try await server()
        let (other, root) = (lab.authority.intermediate.der, lab.authority.root.der)
        let delegate = AnsweringDelegate { _ in
            var trust: SecTrust?
            guard let certificate = SecCertificateCreateWithData(nil, other as CFData),
                let anchor = SecCertificateCreateWithData(nil, root as CFData)
            else { return nil }
            SecTrustCreateWithCertificates([certificate], SecPolicyCreateBasicX509(), &trust)
            guard let trust else { return nil }
            SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
            return (.useCredential, URLCredential(trust: trust))
        }
        #expect(await outcome(try lab.session(delegate, trust: .only([])), server) == "-1203")
    }

    @Test("An untrusted server that the program accepts is used only with an exception, and without pins")
    func exceptions() async throws {
        let server = try await server()
        let delegate = AnsweringDelegate { challenge in
            (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
        let settings = try AppTransportSecurity.reading(
            infoPlist: Array(
                """
                <plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict><key>NSExceptionDomains</key><dict>
                <key>localhost</key><dict><key>NSExceptionAllowsInsecureHTTPLoads</key><true/></dict>
                </dict></dict></dict></plist>
                """.utf8)
        ).settings
        let session = try lab.session(delegate, settings: settings, trust: .only([]))
        #expect(await outcome(session, server) == "200 hello")
        let pinned = try lab.session(delegate, pins: [lab.server.pin()], settings: settings, trust: .only([]))
        #expect(await outcome(pinned, server) == "-1203")
    }

    @Test("A program that never answers ends the request with its timeout")
    func silence() async throws {
        let server = try await server()
        let session = try lab.session(AnsweringDelegate { _ in nil }) { $0.timeoutIntervalForRequest = 1 }
        #expect(await outcome(session, server) == "-1001")
    }

    // MARK: The policy alone

    @Test("Without a delegate, the policy and its pins decide")
    func policy() async throws {
        let server = try await server()
        #expect(await outcome(try lab.session(), server) == "200 hello")
        #expect(await outcome(try lab.session(pins: [lab.server.pin()]), server) == "200 hello")
        #expect(await outcome(try lab.session(pins: [lab.authority.root.pin()]), server) == "-1202")
        #expect(server.requests.count == 2)
    }

    @Test("An expired certificate, another name and a person in the middle are refused")
    func refused() async throws {
        let expired = try await server(Lab.issue(by: lab.authority, days: -1), of: lab.authority)
        #expect(await outcome(try lab.session(), expired) == "-1201")
        let wrongHost = try await server(Lab.issue(by: lab.authority, name: "other.example"), of: lab.authority)
        #expect(await outcome(try lab.session(), wrongHost) == "-1202")
        let middle = try await server(Lab.issue(by: lab.middle), of: lab.middle)
        #expect(await outcome(try lab.session(), middle) == "-1202")
        #expect([expired, wrongHost, middle].allSatisfy { $0.requests.isEmpty })
    }

    @Test("A person in the middle with a CA of the system's store is refused where a key is pinned")
    func installedAuthority() async throws {
        let middle = try await server(Lab.issue(by: lab.middle), of: lab.middle)
        let bundle = try String(contentsOfFile: lab.middle.root.file, encoding: .utf8)
        let store = lab.middle.openssl.path("system-\(UUID().uuidString).pem")
        try Data(bundle.utf8).write(to: URL(filePath: store))
        let trust = PeerTrust(systemAnchors: SystemAnchors { SystemAnchors.Locations(files: [store], directories: []) })
        #expect(await outcome(try lab.session(trust: trust), middle) == "200 hello")
        let pinned = try lab.session(pins: [lab.server.pin()], trust: trust)
        #expect(await outcome(pinned, middle) == "-1202")
        let delegate = PublicKeyPinning([try key(lab.server)])
        #expect(await outcome(try lab.session(delegate, trust: trust), middle) == "-999")
        #expect(middle.requests.count == 1)
    }

    @Test("http is refused with -1022, and nothing is sent")
    func plain() async throws {
        let server = try await WebServer(nil) { _ in .text("hello") }
        #expect(await outcome(try lab.session(), server) == "-1022")
        #expect(server.connectionCount == 0)
    }

    @Test("The error of a refused server has the failing URL, its trust, and the pins")
    func error() async throws {
        let server = try await server()
        let session = try lab.session(pins: [lab.authority.root.pin()])
        let error = try await #require(throws: URLError.self) { _ = try await session.data(from: server.url()) }
        #expect(error.errorCode == -1202 && error.failingURL == server.url())
        let refusal = try #require(error.userInfo[NSUnderlyingErrorKey] as? TLSRefusal)
        let served = try lab.server.parsed()
        #expect(refusal.pinFailures.count == 1 && refusal.served.first == served)
        let trust = try #require(error.userInfo["NSURLErrorFailingURLPeerTrustErrorKey"] as? SecTrust)
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(error.localizedDescription.contains("pin"))
    }

    @Test("Two sessions with different delegates do not share connections")
    func connections() async throws {
        let server = try await server()
        let (first, second) = (AnsweringDelegate { _ in (.performDefaultHandling, nil) }, CertificatePinning(Data()))
        let (one, two) = (try lab.session(first), try lab.session(second))
        for _ in 0..<2 { #expect(await outcome(one, server) == "200 hello") }
        #expect(first.challenges.withLock { $0.count } == 2 && server.connectionCount == 1)
        #expect(await outcome(two, server) == "-999")
        #expect(server.connectionCount == 2)
    }

    @Test("A task with a delegate of its own uses no connection that another delegate has accepted")
    func taskDelegates() async throws {
        let server = try await server()
        let session = try lab.session(AnsweringDelegate { _ in (.performDefaultHandling, nil) })
        #expect(await outcome(session, server) == "200 hello")
        let strict = PublicKeyPinning([try key(lab.authority.root)])
        do {
            _ = try await session.data(for: URLRequest(url: server.url()), delegate: strict)
            Issue.record("accepted")
        } catch { #expect((error as NSError).code == -999) }
        #expect(server.requests.count == 1 && server.connectionCount == 2)
    }

    @Test("A session with replaced settings makes no connection")
    func lostSettings() async throws {
        let server = try await server()
        let session = try lab.session { $0.connectionProxyDictionary = ["HTTPEnable": 0] }
        #expect(await outcome(session, server) == "-1200")
        #expect(server.connectionCount == 0)
    }
}
