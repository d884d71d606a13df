// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import Testing

@testable import TransportPolicy

/// Connections that are compared with their requirements after the handshake.
@Suite("Handshakes")
struct HandshakeTests {
    private let server: ServerChain
    private let requirements: TLSRequirements

    init() throws {
        server = try ServerChain.shared()
        requirements = TLSRequirements(try ServerName("api.example.com"))
    }

    private func connection(_ verdict: TrustVerdict? = nil, served: [Certificate]? = nil) -> NegotiatedConnection {
        NegotiatedConnection(
            .tls13, suite: "TLS_AES_128_GCM_SHA256", verdict: verdict ?? server.verdict, served: served ?? server.served
        )
    }

    @Test("TLS-1: a connection that satisfies everything is accepted, with the strength of its own leaf")
    func accepted() throws {
        let connection = connection()
        #expect(connection.leaf == LeafStrength(kind: .curve, bits: 256, hash: .sha256))
        #expect(requirements.verdict(on: connection, at: validTime) == HandshakeVerdict(violations: [], reports: []))
    }

    @Test("TLS-2: a connection with untrusted certificates is refused, with the code of the reason")
    func untrusted() throws {
        let verdict = requirements.verdict(on: connection(server.untrusted), at: validTime)
        #expect(verdict.violations.first?.code.rawValue == -1203 && !verdict.isAccepted)
        let expected: [(TrustRule, Int)] = [
            (.expired, -1201), (.notYetValid, -1204), (.untrusted, -1203), (.serverName, -1202), (.revoked, -1202),
            (.key, -1202), (.denied, -1202),
        ]
        let authority = try OpenSSLAuthority()
        let expired = try Certificate(der: Array(authority.server("api.example.com", days: -1).der))
        var evaluation = TrustEvaluation(
            [expired], policies: [.server(try ServerName("api.example.com"))], at: Date().timeIntervalSince1970)
        evaluation.anchors = [try Certificate(der: Array(authority.intermediate.der))]
        evaluation.isAnchorsOnly = true
        let refused = requirements.verdict(on: connection(evaluation.verdict(), served: [expired]), at: validTime)
        let code = refused.violations.first?.code.rawValue
        guard case .trust(let failure?) = refused.violations.first?.kind else {
            Issue.record("an expired certificate was accepted")
            return
        }
        #expect(expected.first { $0.0 == failure.rule }?.1 == code)
    }

    @Test("TLS-3: a chain that is not for the served leaf is refused, and so is a connection without certificates")
    func otherChain() throws {
        for served in [[server.stranger, server.leaf], []] {
            let verdict = requirements.verdict(on: connection(served: served), at: validTime)
            #expect(verdict.violations.map(\.kind) == [.otherChain])
            #expect(verdict.violations.first?.code.rawValue == -1202)
        }
        let none = NegotiatedConnection(
            nil, suite: "", leaf: LeafStrength(kind: .other, bits: nil, hash: nil), chain: nil, served: [])
        let verdict = requirements.verdict(on: none, at: validTime)
        #expect(verdict.violations.map(\.code.rawValue) == [-1202, -1200, -1200, -1202, -1202])
    }

    @Test("TLS-4: a wrong pin is refused, and in report-only mode it is reported")
    func pins() throws {
        let rule = try DomainRule(DomainName("api.example.com"))
        for enforcement in [PinSet.Enforcement.enforced, .reportOnly] {
            var requirements = requirements
            let wrong = try PinRequirement(.leaf, [.other(1), .other(2)])
            requirements.pins = [try PinSet(rule, [wrong], enforcement: enforcement)]
            let verdict = requirements.verdict(on: connection(), at: validTime)
            #expect(verdict.isAccepted == (enforcement == .reportOnly))
            #expect(verdict.reports.count == (enforcement == .reportOnly ? 1 : 0))
            // Without a validated chain, there is nothing to compare, and nothing is accepted.
            let untrusted = requirements.verdict(on: connection(server.untrusted), at: validTime)
            #expect(!untrusted.isAccepted && untrusted.reports.isEmpty)
        }
    }

    @Test("TLS-5: certificate transparency is required where the settings require it")
    func transparency() throws {
        var requirements = requirements
        requirements.requiresCertificateTransparency = true
        var connection = connection()
        #expect(
            requirements.verdict(on: connection, at: validTime).violations.map(\.kind) == [.certificateTransparency])
        connection.hasCertificateTransparency = true
        #expect(requirements.verdict(on: connection, at: validTime).isAccepted)
    }

    @Test("TLS-6: the suites with forward secrecy are Apple's, those of TLS 1.3, and ChaCha20, under both names")
    func suites() throws {
        let apple = [
            "ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", "ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
            "ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
            "ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "ECDHE_RSA_WITH_AES_256_CBC_SHA384", "ECDHE_RSA_WITH_AES_128_CBC_SHA256",
            "ECDHE_RSA_WITH_AES_128_CBC_SHA",
        ]
        let more = [
            "AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256",
            "ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        ]
        let names = Set(CipherSuite.forwardSecret.map(\.name))
        #expect(names == Set((apple + more).map { "TLS_\($0)" }))
        #expect(CipherSuite.forwardSecret.allSatisfy { $0.keyExchange == .ecdhe || $0.keyExchange == .tls13 })
        #expect(requirements.suites == CipherSuite.forwardSecret)
        for suite in CipherSuite.all {
            #expect(CipherSuite(named: suite.name) == suite && CipherSuite(named: suite.shortName) == suite)
            for weak in ["RC4", "3DES", "NULL", "anon", "EXPORT", "MD5"] { #expect(!suite.name.contains(weak)) }
        }
        #expect(Set(CipherSuite.all.flatMap { Set([$0.name, $0.shortName]) }).count == 2 * CipherSuite.all.count - 3)
    }

    @Test("TLS-6: openssl has the same names of the suites, and the same protocol and key exchange")
    func openssl() throws {
        let openssl = try OpenSSL()
        let text = String(
            decoding: try openssl.output(["ciphers", "-v", "-stdname", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"]),
            as: UTF8.self)
        var known: [String: (shortName: String, line: String)] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.count > 2 { known[words[0]] = (words[2], String(line)) }
        }
        for suite in CipherSuite.all {
            let found = try #require(known[suite.name], "\(suite.name)")
            #expect(found.shortName == suite.shortName)
            let exchange =
                switch suite.keyExchange {
                case .tls13: "TLSv1.3"
                case .ecdhe: "Kx=ECDH "
                case .dhe: "Kx=DH "
                case .rsa: "Kx=RSA "
                }
            #expect(found.line.contains(exchange), "\(found.line)")
            #expect(found.line.contains("Enc=AES") || found.line.contains("Enc=CHACHA20"), "\(found.line)")
        }
    }

    @Test("TLS-7: versions are read from their names and numbers, and unknown ones are below every minimum")
    func versions() {
        #expect(TLSVersion(negotiated: "TLSv1") == .tls10)
        for version in TLSVersion.allCases {
            #expect(TLSVersion(negotiated: version.rawValue) == version)
            #expect(TLSVersion(wireVersion: version.wireVersion) == version)
        }
        for name in ["SSLv3", "TLSv1.4", "", "tlsv1.2", "DTLSv1.2"] { #expect(TLSVersion(negotiated: name) == nil) }
        for number in [0x0300, 0x0305, 0xFEFD] as [UInt16] { #expect(TLSVersion(wireVersion: number) == nil) }
        #expect(TLSVersion.allCases == TLSVersion.allCases.sorted())
    }

    @Test("TLS-8: the codes are those of Apple's NSURLError.h")
    func codes() {
        let expected = [
            "NSURLErrorBadURL": -1000, "NSURLErrorUnsupportedURL": -1002,
            "NSURLErrorAppTransportSecurityRequiresSecureConnection": -1022, "NSURLErrorSecureConnectionFailed": -1200,
            "NSURLErrorServerCertificateHasBadDate": -1201, "NSURLErrorServerCertificateUntrusted": -1202,
            "NSURLErrorServerCertificateHasUnknownRoot": -1203, "NSURLErrorServerCertificateNotYetValid": -1204,
            "NSURLErrorClientCertificateRejected": -1205, "NSURLErrorClientCertificateRequired": -1206,
            "NSURLErrorCancelled": -999,
            "-9999": -9999,
        ]
        for (name, code) in expected { #expect(TransportErrorCode(rawValue: code).description == name) }
    }
}
