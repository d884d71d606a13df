// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyNIOSSL
import LatchkeySecurity
import Testing

/// Identities with the private key in the keychain, on both sides of a connection.
@Suite("TLS identities in the keychain")
struct IdentityTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// Returns an identity with its key in a keychain. The keychain must live as long as the connections.
    private func identity(
        _ kind: Lab.KeyKind, _ subject: String, _ extensions: String, in keychain: TestKeychain,
        by authority: OpenSSLAuthority? = nil
    ) throws -> TLSIdentity {
        try keychain.run(groups: ["G1"]) {
            try lab.identity(kind, subject, extensions, by: authority ?? lab.authority)
        }
    }

    // MARK: Clients

    @Test(
        "openssl's server accepts a client with a key that cannot leave the keychain",
        arguments: Lab.KeyKind.allCases, ["-tls1_2", "-tls1_3"])
    func client(_ kind: Lab.KeyKind, _ version: String) async throws {
        let keychain = try TestKeychain(.ephemeral)
        let identity = try identity(kind, "/CN=client", Lab.clientExtensions, in: keychain)
        let server = try await OpenSSLServer(
            lab.server(), of: lab.authority,
            [version, "-Verify", "3", "-verify_return_error", "-CAfile", lab.authority.root.file])
        let refused = try await Conversation.request(try lab.client(), Lab.host, port: server.port)
        #expect(!refused.isAnswered && refused.refusal != nil)
        let ending = try await Conversation.request(try lab.client(identity: identity), Lab.host, port: server.port)
        #expect(ending.isAnswered && ending.received.contains("Verify return code: 0 (ok)"), "\(ending)")
        withExtendedLifetime(keychain) {}
    }

    @Test("A client does not show its certificate to a server that it refuses")
    func notShown() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let identity = try identity(.p256, "/CN=client", Lab.clientExtensions, in: keychain)
        let server = try await OpenSSLServer(
            lab.other.server(Lab.host), of: lab.other, ["-tls1_2", "-verify", "3", "-CAfile", lab.authority.root.file])
        let ending = try await Conversation.request(try lab.client(identity: identity), Lab.host, port: server.port)
        #expect(ending.refusal?.trustFailure?.rule == .keyIdentifier)
        #expect(!server.output.contains("CN = client"))
        withExtendedLifetime(keychain) {}
    }

    @Test("If the key is deleted, the handshake fails with the reason of the keychain")
    func deleted() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let identity = try identity(.p256, "/CN=client", Lab.clientExtensions, in: keychain)
        keychain.run(groups: ["G1"]) {
            #expect(SecItemDelete([kSecClass: kSecClassKey] as [CFString: Any] as CFDictionary) == errSecSuccess)
        }
        let server = try await OpenSSLServer(
            lab.server(), of: lab.authority, ["-tls1_2", "-Verify", "3", "-CAfile", lab.authority.root.file])
        let ending = try await Conversation.request(try lab.client(identity: identity), Lab.host, port: server.port)
        guard case .identity? = ending.refusal?.reason else {
            Issue.record("\(ending)")
            return
        }
        #expect(!ending.isCompleted)
        withExtendedLifetime(keychain) {}
    }

    @Test("Keys that are too short or of another kind are refused before a connection")
    func unusable() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.run(groups: ["G1"]) {
            let attributes = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 1024] as [CFString: Any]
            let key = try #require(SecKeyCreateRandomKey(attributes as CFDictionary, nil))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            var exported: CFData?
            #expect(SecItemExport(publicKey, .formatOpenSSL, [.pemArmour], nil, &exported) == errSecSuccess)
            let openssl = lab.authority.openssl
            let file = try openssl.file(Data(referencing: try #require(exported)))
            let der = try openssl.output([
                "x509", "-new", "-force_pubkey", file, "-subj", "/CN=short", "-CA", lab.authority.intermediate.file,
                "-CAkey", lab.authority.intermediate.keyFile, "-days", "30", "-outform", "DER",
            ])
            let certificate = try #require(SecCertificateCreateWithData(nil, Data(der) as CFData))
            let identity = try #require(SecIdentityCreate(nil, certificate, key))
            #expect(throws: TLSRefusal.self) { try TLSIdentity(identity) }
        }
    }

    // MARK: Servers

    /// Returns the report of openssl's client about a server.
    private func connect(_ server: RunningServer, _ options: [String] = []) throws -> String {
        let input = try lab.authority.openssl.file(Array("hello\n".utf8))
        let command =
            ([
                "openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-servername", Lab.host, "-CAfile",
                lab.authority.root.file, "-verify_hostname", Lab.host, "-verify_return_error", "-ign_eof",
            ] + options).joined(separator: " ")
        let outcome = try lab.authority.openssl.run(["-c", "exec \(command) < \(input)"], program: "/bin/sh")
        return String(decoding: outcome.output, as: UTF8.self) + outcome.error
    }

    @Test(
        "openssl's client accepts a server with a key that cannot leave the keychain",
        arguments: Lab.KeyKind.allCases, ["-tls1_2", "-tls1_3"])
    func server(_ kind: Lab.KeyKind, _ version: String) async throws {
        let keychain = try TestKeychain(.ephemeral)
        let identity = try identity(kind, "/CN=server", OpenSSLAuthority.server("DNS:\(Lab.host)"), in: keychain)
        let server = try await RunningServer(TLSServer(identity))
        let report = try connect(server, [version])
        #expect(report.contains("Verify return code: 0 (ok)") && report.contains("answer\n"), "\(report)")
        #expect(try await server.endings().first?.handshake.peer == nil)
        withExtendedLifetime(keychain) {}
    }

    @Test("A server does not accept TLS 1.1, and no suite without forward secrecy")
    func weakClients() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let identity = try identity(.rsa2048, "/CN=server", OpenSSLAuthority.server("DNS:\(Lab.host)"), in: keychain)
        let server = try await RunningServer(TLSServer(identity))
        for options in [["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES256-GCM-SHA384"]] {
            #expect(!(try connect(server, options)).contains("answer"))
        }
        let reasons = try await server.endings().compactMap(\.refusal).map { "\($0.reason)" }
        #expect(reasons == ["version", "algorithms"])
        withExtendedLifetime(keychain) {}
    }

    @Test(
        "A server evaluates the certificates of clients",
        arguments: ["required", "optional"], ["trusted", "none", "other CA", "expired", "of a server"])
    func clients(_ mode: String, _ client: String) async throws {
        let keychain = try TestKeychain(.ephemeral)
        let identity = try identity(.p256, "/CN=server", OpenSSLAuthority.server("DNS:\(Lab.host)"), in: keychain)
        let trust = try lab.trust()
        let server = try await RunningServer(
            TLSServer(identity, clients: mode == "required" ? .required(trust) : .optional(trust)))
        let issuer = client == "other CA" ? lab.other : lab.authority
        let shown: Lab.Issued? =
            switch client {
            case "none": nil
            case "of a server": try lab.server()
            default:
                try issuer.issue(
                    "/CN=client", Lab.clientExtensions, days: client == "expired" ? -1 : 30, by: issuer.intermediate)
            }
        let options = shown.map {
            ["-cert", $0.file, "-key", $0.keyFile, "-cert_chain", issuer.intermediate.file]
        }
        let report = try connect(server, options ?? [])
        let isAccepted = client == "trusted" || (client == "none" && mode == "optional")
        #expect(report.contains("answer\n") == isAccepted, "\(report)")
        let ending = try #require(try await server.endings().first)
        #expect((ending.handshake.peer?.chain?.leaf == (try shown?.parsed())) == (isAccepted || client == "none"))
        #expect((ending.refusal == nil) == isAccepted, "\(ending)")
        if let refusal = ending.refusal, client != "none" {
            let rules: [String: TrustRule] = [
                "other CA": .keyIdentifier, "expired": .expired, "of a server": .extendedKeyUsage,
            ]
            #expect(refusal.trustFailure?.rule == rules[client], "\(refusal)")
            #expect(refusal.code == .clientCertificateRejected)
        }
        withExtendedLifetime(keychain) {}
    }

    @Test("A server uses a renewed identity for the connections that follow")
    func renewal() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let names = OpenSSLAuthority.server("DNS:\(Lab.host)")
        let tls = try TLSServer(identity(.p256, "/CN=first", names, in: keychain))
        let server = try await RunningServer(tls)
        #expect(try connect(server).contains("CN = first"))
        try tls.use(identity(.p384, "/CN=second", names, in: keychain))
        #expect(try connect(server).contains("CN = second"))
        withExtendedLifetime(keychain) {}
    }
}
