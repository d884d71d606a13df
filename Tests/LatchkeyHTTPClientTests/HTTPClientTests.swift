// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificateTrust
import KeychainTesting
import LatchkeyHTTPClient
import LatchkeyNIOSSL
import NIOCore
import NIOHTTP1
import Testing
import TransportPolicy

/// Requests of async-http-client to servers of openssl that answer with a page.
@Suite("async-http-client with a policy")
struct HTTPClientTests {
    private typealias Issued = OpenSSLAuthority.IssuedCertificate
    private typealias Ending = Result<HTTPResponseStatus, any Error>

    private let authority: OpenSSLAuthority
    private let trust: PeerTrust
    private static let host = "api.example.com"

    init() throws {
        authority = try OpenSSLAuthority()
        trust = .only([try Certificate(der: Array(authority.root.der))])
    }

    /// Makes a request to a server of openssl with these options.
    private func ending(
        _ identity: Issued, _ options: [String] = [], policy: ConnectionPolicy = ConnectionPolicy(),
        trust: PeerTrust? = nil, scheme: String = "https"
    ) async throws -> Ending {
        let server = try await OpenSSLServer(identity, of: authority, options)
        var configuration = try HTTPClient.Configuration.latchkey(policy, trust: trust ?? self.trust)
        configuration.dnsOverride = [Self.host: "127.0.0.1"]
        let client = HTTPClient(configuration: configuration)
        let ending = await Self.ending(client, "\(scheme)://\(Self.host):\(server.port)/")
        try await client.shutdown()
        return ending
    }

    private static func ending(_ client: HTTPClient, _ url: String) async -> Ending {
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
            return .success(response.status)
        } catch { return .failure(error) }
    }

    private func isAnswered(_ ending: Ending) -> Bool { if case .success(.ok) = ending { true } else { false } }

    private func reason(_ ending: Ending) -> TLSRefusal? {
        if case .failure(let error) = ending { error as? TLSRefusal } else { nil }
    }

    private func policy(
        pinning certificates: [Issued], _ placement: PinPlacement = .leaf, to domain: String = "example.com"
    ) throws -> ConnectionPolicy {
        let pins = try certificates.map { Pin(try Certificate(der: Array($0.der))) }
        let rule = try DomainRule(DomainName(domain), subdomains: .anyLevel)
        let set = try PinSet(rule, [PinRequirement(placement, pins)], requiresBackup: false)
        return ConnectionPolicy(pins: try PinConfiguration([set]))
    }

    // MARK: Pins

    @Test("A server with the pinned key is answered")
    func pinned() async throws {
        let identity = try authority.server(Self.host)
        let ending = try await ending(identity, policy: policy(pinning: [identity]))
        #expect(isAnswered(ending), "\(ending)")
    }

    @Test("A trusted server with another key is refused, with the pins that were expected and found")
    func wrongPin() async throws {
        let ending = try await ending(
            authority.server(Self.host), policy: policy(pinning: [authority.server(Self.host)]))
        let refusal = try #require(reason(ending), "\(ending)")
        #expect(refusal.pinFailures.count == 1 && refusal.code == .serverCertificateUntrusted)
    }

    @Test("Pins of every name in the certificate apply, also of a host below its wildcard")
    func otherNames() async throws {
        let pinned = try authority.server("pinned.example.org")
        for names in ["DNS:\(Self.host),DNS:pinned.example.org", "DNS:\(Self.host),DNS:*.example.org"] {
            let identity = try authority.issue(
                "/CN=several", OpenSSLAuthority.server(names), by: authority.intermediate)
            let ending = try await ending(identity, policy: policy(pinning: [pinned], to: "pinned.example.org"))
            #expect(reason(ending)?.pinFailures.count == 1, "\(names): \(ending)")
        }
    }

    @Test("Pins of CAs and the check of revocation are refused by name before any connection")
    func unsupported() throws {
        let refused = try policy(pinning: [authority.root], .certificateAuthority)
        var checked = trust
        checked.revocation = RevocationOptions()
        #expect(isUnsupported(refused, trust) && isUnsupported(ConnectionPolicy(), checked))
        #expect(!isUnsupported(ConnectionPolicy(), trust))
    }

    private func isUnsupported(_ policy: ConnectionPolicy, _ trust: PeerTrust) -> Bool {
        do throws(TLSRefusal) {
            _ = try HTTPClient.Configuration.latchkey(policy, trust: trust)
            return false
        } catch { if case .unsupported = error.reason { return true } else { return false } }
    }

    // MARK: Trust

    @Test("A server of another CA, with another name or an expired certificate is refused")
    func untrusted() async throws {
        let stranger = PeerTrust.only([try Certificate(der: Array(OpenSSLAuthority().root.der))])
        let endings = [
            try await ending(authority.server(Self.host), trust: stranger),
            try await ending(authority.server("www.example.com")),
            try await ending(authority.server(Self.host, days: -1)),
        ]
        for ending in endings { #expect(!isAnswered(ending), "\(ending)") }
        #expect(isAnswered(try await ending(authority.server(Self.host))))
    }

    // MARK: App Transport Security

    @Test("A server with TLS 1.1 or without forward secrecy is refused")
    func weak() async throws {
        let extensions = OpenSSLAuthority.server("DNS:\(Self.host)")
            .replacing("digitalSignature", with: "digitalSignature,keyEncipherment")
        let rsa = try authority.issue(
            "/CN=rsa", extensions, key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            by: authority.intermediate)
        for options in [["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES128-GCM-SHA256"]] {
            #expect(!isAnswered(try await ending(rsa, options)), "\(options)")
        }
        #expect(isAnswered(try await ending(rsa, ["-tls1_2"])))
    }

    @Test("A domain that requires TLS 1.3 is refused with TLS 1.2")
    func version() async throws {
        var entry = ExceptionDomain(.domain(try DomainRule(DomainName(Self.host))))
        entry.minimumVersion = .tls13
        var settings = AppTransportSecurity()
        settings.exceptions = [entry]
        let (identity, policy) = (try authority.server(Self.host), ConnectionPolicy(settings))
        let old = try await ending(identity, ["-tls1_2"], policy: policy)
        #expect(reason(old)?.code == .secureConnectionFailed, "\(old)")
        #expect(isAnswered(try await ending(identity, ["-tls1_3"], policy: policy)))
    }

    @Test("HTTP without TLS is refused with -1022")
    func plain() async throws {
        let ending = try await ending(authority.server(Self.host), scheme: "http")
        #expect(reason(ending)?.code == .appTransportSecurityRequiresSecureConnection, "\(ending)")
    }
}
