// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyNIOSSL
import NIOSSL
import Testing
import TransportPolicy

/// Handshakes of a client with servers of openssl.
@Suite("TLS client")
struct TLSClientTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// Why the connection to a server with these options is refused.
    private func refusal(
        _ identity: Lab.Issued, _ options: [String] = [], client: TLSClient? = nil, host: String = Lab.host
    ) async throws -> TLSRefusal {
        let server = try await OpenSSLServer(identity, of: lab.authority, options)
        let ending = try await Conversation.request(try client ?? lab.client(), host, port: server.port)
        #expect(!ending.isAnswered && ending.handshake.peer == nil)
        return try #require(ending.refusal)
    }

    // MARK: Accepted

    @Test(
        "A trusted server with a pinned key is accepted, and its validated chain can be read",
        arguments: ["-tls1_2", "-tls1_3"])
    func accepted(_ version: String) async throws {
        let identity = try lab.server()
        let server = try await OpenSSLServer(identity, of: lab.authority, [version])
        let pins = [
            try PinRequirement(.leaf, [identity.pin()]),
            try PinRequirement(.certificateAuthority, [lab.authority.root.pin()]),
        ]
        let ending = try await Conversation.request(try lab.client(pins), Lab.host, port: server.port)
        #expect(ending.isAnswered && ending.isCompleted, "\(ending)")
        let peer = try #require(ending.handshake.peer)
        let expected = [identity, lab.authority.intermediate, lab.authority.root]
        #expect(peer.chain?.certificates == (try expected.map { try $0.parsed() }))
        #expect(peer.verdict.isTrusted && peer.served.count == 2 && peer.reports.isEmpty)
        #expect(ending.handshake.refusal == nil)
    }

    @Test("A server with a renewed certificate is accepted with the same key, and with the key of the backup pin")
    func renewed() async throws {
        let (old, backup) = (try lab.server(), try lab.server())
        let client = try lab.client([PinRequirement(.leaf, [old.pin(), backup.pin()])])
        let renewed = try renewal(of: old)
        for (file, key) in [(old.file, old.keyFile), (renewed, old.keyFile), (backup.file, backup.keyFile)] {
            let server = try await OpenSSLServer(certificate: file, key: key, of: lab.authority)
            #expect(try await Conversation.request(client, Lab.host, port: server.port).isAnswered)
        }
        let refusal = try await refusal(lab.server(), client: client)
        #expect(refusal.pinFailures.count == 1)
    }

    /// A new certificate for the same key, as a file.
    private func renewal(of old: Lab.Issued) throws -> String {
        let openssl = lab.authority.openssl
        let settings = try openssl.file(Array(OpenSSLAuthority.server("DNS:\(Lab.host)").utf8))
        let publicKey = try openssl.file(openssl.output(["pkey", "-in", old.keyFile, "-pubout"]))
        let pem = try openssl.output([
            "x509", "-new", "-force_pubkey", publicKey, "-subj", "/CN=renewed", "-CA",
            lab.authority.intermediate.file, "-CAkey", lab.authority.intermediate.keyFile, "-extfile", settings,
            "-days", "30",
        ])
        return try openssl.file(pem)
    }

    @Test("Pins that are only reported do not refuse the connection")
    func reported() async throws {
        let server = try await OpenSSLServer(lab.server(), of: lab.authority)
        let client = try lab.client([PinRequirement(.leaf, [lab.other.root.pin()])], enforcement: .reportOnly)
        let ending = try await Conversation.request(client, Lab.host, port: server.port)
        #expect(ending.isAnswered)
        #expect(ending.handshake.peer?.reports.count == 1)
    }

    @Test("A host name is sent to the server, and an address is not")
    func indicated() async throws {
        let names = OpenSSLAuthority.server("DNS:\(Lab.host),IP:127.0.0.1")
        let (first, second) = (
            try lab.authority.issue("/CN=first", names, by: lab.authority.intermediate),
            try lab.authority.issue("/CN=second", names, by: lab.authority.intermediate)
        )
        // The server has the second certificate for the name.
        var client = try lab.client()
        // The server sends no intermediate with it.
        client.trust.anchors.append(try lab.authority.intermediate.parsed())
        let options = ["-servername", Lab.host, "-servername_fatal", "-cert2", second.file, "-key2", second.keyFile]
        for (host, expected) in [(Lab.host, second), ("127.0.0.1", first), ("\(Lab.host).", second)] {
            let server = try await OpenSSLServer(first, of: lab.authority, options)
            let ending = try await Conversation.request(client, host, port: server.port)
            #expect(ending.isAnswered, "\(host): \(ending)")
            #expect(ending.handshake.peer?.chain?.leaf == (try expected.parsed()), "\(host)")
        }
    }

    @Test("The client offers application protocols, and learns the one that the server selects")
    func applicationProtocols() async throws {
        let server = try await OpenSSLServer(lab.server(), of: lab.authority, ["-alpn", "http/1.1"])
        var client = try lab.client()
        client.applicationProtocols = ["h2", "http/1.1"]
        let ending = try await Conversation.request(client, Lab.host, port: server.port)
        #expect(ending.isAnswered && ending.applicationProtocol == "http/1.1")
    }

    // MARK: Refused

    @Test("A trusted server without a pinned key is refused, and the error names all pins")
    func wrongPin() async throws {
        let (identity, pin) = (try lab.server(), try lab.other.root.pin())
        let client = try lab.client([PinRequirement(.leaf, [pin])])
        let refusal = try await refusal(identity, client: client)
        let failure = try #require(refusal.pinFailures.first)
        #expect(failure.configured.map(\.pins) == [[pin]])
        #expect(failure.validated.count == 3 && failure.served.count == 2)
        #expect(failure.validated.first?.pin == (try identity.pin()))
        #expect(refusal.code == .serverCertificateUntrusted && refusal.trustFailure == nil)
        #expect(refusal.description.contains(pin.description), "\(refusal)")
    }

    @Test("A CA in the system's store makes a server trusted, but not where another key is pinned")
    func interception() async throws {
        let roots = try [lab.authority, lab.other].map { try Data(contentsOf: URL(filePath: $0.root.file)) }
        let store = try lab.authority.openssl.file(roots.joined())
        let locations = SystemAnchors.Locations(files: [store], directories: [])
        let anchors = SystemAnchors { locations }
        let interceptor = try lab.other.server(Lab.host)
        let server = try await OpenSSLServer(interceptor, of: lab.other)
        var client = TLSClient(trust: PeerTrust(systemAnchors: anchors))
        let accepted = try await Conversation.request(client, Lab.host, port: server.port)
        #expect(accepted.isAnswered, "\(accepted)")
        client.policy.pins = try Lab.pins([PinRequirement(.certificateAuthority, [lab.authority.root.pin()])])
        let ending = try await Conversation.request(client, Lab.host, port: server.port)
        let failure = try #require(ending.refusal?.pinFailures.first)
        #expect(!ending.isAnswered && ending.handshake.peer == nil)
        #expect(failure.validated.map(\.pin).contains(try lab.other.root.pin()))
        #expect(ending.refusal?.verdict?.isTrusted == true)
    }

    /// A defect of a server's certificate.
    enum Defect: String, CaseIterable, Sendable {
        case expired, otherHost, nameForAddress, unknownIssuer, namesake, selfSigned, shortKey, forClients

        var expected: (rule: TrustRule, code: TransportErrorCode) {
            switch self {
            case .expired: (.expired, .serverCertificateHasBadDate)
            case .otherHost, .nameForAddress: (.serverName, .serverCertificateUntrusted)
            case .unknownIssuer, .selfSigned: (.untrusted, .serverCertificateHasUnknownRoot)
            case .namesake: (.keyIdentifier, .serverCertificateUntrusted)
            case .shortKey: (.key, .serverCertificateUntrusted)
            case .forClients: (.extendedKeyUsage, .serverCertificateUntrusted)
            }
        }
    }

    private func identity(_ defect: Defect) throws -> Lab.Issued {
        let names = OpenSSLAuthority.server("DNS:\(Lab.host)")
        let issuer = lab.authority.intermediate
        return switch defect {
        case .expired: try lab.authority.server(Lab.host, days: -1)
        case .otherHost: try lab.authority.server("www.example.com")
        case .nameForAddress: try lab.authority.server("127.0.0.1")
        case .unknownIssuer: try lab.authority.issue("/CN=x", names, by: lab.stranger)
        // Its CA has the names of the trusted one.
        case .namesake: try lab.other.server(Lab.host)
        case .selfSigned:
            try lab.authority.issue("/CN=self", names.replacing("authorityKeyIdentifier=keyid\n", with: ""), by: nil)
        case .shortKey:
            try lab.authority.issue(
                "/CN=short", names, key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], by: issuer)
        case .forClients:
            try lab.authority.issue("/CN=client", names.replacing("serverAuth", with: "clientAuth"), by: issuer)
        }
    }

    @Test(
        "A server with an untrusted certificate is refused with the reason and its code", arguments: Defect.allCases)
    func untrusted(_ defect: Defect) async throws {
        let host = defect == .nameForAddress ? "127.0.0.1" : Lab.host
        let refusal = try await refusal(identity(defect), ["-cipher", "DEFAULT@SECLEVEL=0"], host: host)
        #expect(refusal.trustFailure?.rule == defect.expected.rule, "\(refusal)")
        #expect(refusal.code == defect.expected.code)
        #expect(!refusal.served.isEmpty && refusal.verdict?.isTrusted == false)
    }

    @Test(
        "A server with an old version, or without a suite that has forward secrecy, is refused by name",
        arguments: [
            (["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], true),
            (["-tls1", "-cipher", "DEFAULT@SECLEVEL=0"], true),
            (["-tls1_2", "-cipher", "AES256-GCM-SHA384"], false),
        ])
    func weakProtocol(_ options: [String], isVersion: Bool) async throws {
        let identity = try lab.authority.issue(
            "/CN=rsa", OpenSSLAuthority.server("DNS:\(Lab.host)"),
            key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], by: lab.authority.intermediate)
        let refusal = try await refusal(identity, options)
        switch refusal.reason {
        case .version: #expect(isVersion)
        case .algorithms: #expect(!isVersion)
        default: Issue.record("\(refusal)")
        }
        #expect(refusal.code == .secureConnectionFailed)
    }

    @Test("An exception of App Transport Security allows TLS 1.1 for its domain alone")
    func exception() async throws {
        let list = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict>
            <key>NSExceptionDomains</key><dict><key>\(Lab.host)</key><dict>
            <key>NSExceptionMinimumTLSVersion</key><string>TLSv1.1</string></dict></dict></dict></dict></plist>
            """
        let reading = try AppTransportSecurity.reading(infoPlist: Array(list.utf8))
        #expect(!reading.hasErrors)
        var client = try lab.client()
        client.policy.settings = reading.settings
        #expect(try client.configuration(for: Lab.host).minimumTLSVersion == .tlsv11)
        #expect(try client.configuration(for: "www.example.com").minimumTLSVersion == .tlsv12)
    }

    @Test(
        "A host that the policy refuses has no handler",
        arguments: [
            "", "exa mple.com", "0x7f000001", "127.1", "https://example.com", String(repeating: "a", count: 4096),
        ])
    func host(_ host: String) throws {
        let error = #expect(throws: TLSRefusal.self) { _ = try lab.client().handler(for: host) }
        guard case .policy(let refusal)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.reason == .invalidHost)
    }

    @Test(
        "A peer that does not speak TLS, or ends the connection, is named",
        arguments: [
            ("", "ended"), ("HTTP/1.1 400 Bad Request\r\n\r\n", "notTLS"), ("SSH-2.0-x\r\n", "notTLS"),
            ("\u{16}\u{03}\u{03}", "ended"),
        ])
    func notTLS(_ bytes: String, expected: String) async throws {
        let server = try await RawServer(Array(bytes.utf8))
        let ending = try await Conversation.request(lab.client(), Lab.host, port: server.port)
        withExtendedLifetime(server) {}
        #expect(!ending.isCompleted)
        let reason = try #require(ending.refusal).reason
        #expect("\(reason)" == expected, "\(ending)")
    }

    @Test("The configuration alone accepts no server")
    func configuration() throws {
        let configuration = try lab.client().configuration(for: Lab.host)
        guard case .certificates(let roots)? = configuration.trustRoots else {
            Issue.record("the configuration has other roots")
            return
        }
        #expect(roots.isEmpty && configuration.minimumTLSVersion == .tlsv12)
    }
}
