// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

@testable import CertificateTrust

/// Replays Fuzz/Corpus/certificates: certificates, files of certificates, and inputs with new
/// coverage that the fuzzer found. The first byte selects the reader, as in the fuzzer.
@Suite("Fuzzer's corpus of certificates")
struct CertificateCorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../Fuzz/Corpus/certificates"
    ).standardized

    @Test("Every input of the corpus is read without a trap and evaluated in time")
    func replay() throws {
        var (read, refusals) = (0, 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) {
            let bytes = Array(try Data(contentsOf: Self.folder.appending(path: name)))
            guard let choice = bytes.first else { continue }
            let rest = Array(bytes.dropFirst())
            let start = ThreadTime.now
            let isRead: Bool =
                switch choice % 9 {
                case 0: (try? Certificate(der: rest)).map { evaluated([$0]) } ?? false
                case 1: evaluated(CertificateBundle(rest).certificates)
                case 3: (try? ServerName(String(decoding: rest, as: UTF8.self))) != nil
                case 4: TrustExceptions(rest) != nil
                case 5:
                    DistinguishedName(der: rest).map {
                        $0.normalized == DistinguishedName(der: $0.normalized)?.normalized
                    } ?? false
                case 6: revocation(rest) { $0.lists = try CertificateRevocationList.all($1) }
                case 7: revocation(rest) { $0.responses = [try OCSPResponse(der: $1)] }
                case 8: (try? TrustSettings(propertyList: rest)) != nil
                default: false
                }
            if isRead { read += 1 } else { refusals += 1 }
            #expect(ThreadTime.now - start < 1, "\(name)")
        }
        #expect(read > 10 && refusals > 5, "\(read) read, \(refusals) refused")
    }

    private func evaluated(_ certificates: [Certificate]) -> Bool {
        guard let last = certificates.last else { return false }
        for anchors in [[], [last]] {
            var evaluation = TrustEvaluation(
                certificates, policies: [.server(ServerName(requested: "example.com"))], at: 1_780_000_000)
            evaluation.anchors = anchors
            evaluation.isAnchorsOnly = true
            let verdict = evaluation.verdict()
            #expect(!verdict.result.isTrusted || verdict.chain.last == anchors.first)
        }
        return true
    }

    /// Reads an issuer and a certificate, each after its length in two bytes, then revocation
    /// evidence. Returns whether the evidence could be read.
    private func revocation(_ bytes: [UInt8], _ take: (inout RevocationInformation, [UInt8]) throws -> Void) -> Bool {
        var rest = bytes[...]
        var certificates: [Certificate] = []
        for _ in 0..<2 {
            let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            guard let certificate = try? Certificate(der: Array(rest.dropFirst(2).prefix(length))) else { return false }
            certificates.append(certificate)
            rest = rest.dropFirst(2 + length)
        }
        let options: RevocationOptions = [.ocsp, .lists, .requiresPositiveResponse]
        var evaluation = TrustEvaluation(
            [certificates[1]], policies: [.basicX509, .revocation(options)], at: 1_800_000_000)
        evaluation.anchors = [certificates[0]]
        evaluation.isAnchorsOnly = true
        let isRead = (try? take(&evaluation.revocation, Array(rest))) != nil
        let verdict = evaluation.verdict()
        #expect(!verdict.result.isTrusted || verdict.revocationKnownUntil != nil || certificates[0] == certificates[1])
        return isRead
    }

    /// Writes the seeds for the fuzzer.
    @Test(
        "Seeds are written on demand",
        .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_RECORD_CORPUS"] == "1", "only to record new ones"))
    func record() throws {
        func write(_ name: String, _ choice: UInt8, _ bytes: some Sequence<UInt8>) throws {
            try Data([choice] + Array(bytes)).write(to: Self.folder.appending(path: name))
        }
        let authority = try OpenSSLAuthority()
        let openssl = authority.openssl
        let rich = try authority.issue(
            "/C=DE/O=Example, Ltd/OU=a+b/CN=example.com",
            """
            basicConstraints=critical,CA:TRUE,pathlen:3
            keyUsage=critical,digitalSignature,keyCertSign,decipherOnly
            extendedKeyUsage=serverAuth,1.2.3.4
            subjectAltName=DNS:*.example.com,IP:192.0.2.1,IP:2001:db8::1,email:a@example.com,URI:https://example.com/d
            nameConstraints=critical,permitted;DNS:.example,excluded;IP:10.0.0.0/255.0.0.0
            certificatePolicies=1.2.3.4,2.23.140.1.2.1
            policyConstraints=critical,requireExplicitPolicy:3,inhibitPolicyMapping:0
            inhibitAnyPolicy=critical,2
            crlDistributionPoints=URI:http://crl.example/a
            authorityInfoAccess=OCSP;URI:http://ocsp.example,caIssuers;URI:http://ca.example/a.crt
            subjectKeyIdentifier=hash
            authorityKeyIdentifier=keyid,issuer

            """, by: authority.intermediate)
        let server = try authority.server("example.com")
        for (name, issued) in [
            ("rich", rich), ("server", server), ("root", authority.root), ("intermediate", authority.intermediate),
        ] {
            try write("certificate-\(name)", 0, issued.der)
            try write("certificate-\(name)-cut", 0, issued.der.dropLast(3))
            try write("bundle-\(name)-der", 1, issued.der)
        }
        for key in [["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], ["-algorithm", "ED25519"]] {
            let issued = try authority.issue(
                "/CN=key", OpenSSLAuthority.server("DNS:example.com"), key: key, by: authority.intermediate)
            try write("certificate-\(key[1])", 0, issued.der)
        }
        let chain = try [server, authority.intermediate, authority.root].map {
            try String(contentsOfFile: $0.file, encoding: .utf8)
        }
        .joined()
        try write("bundle-chain", 1, chain.utf8)
        try write("bundle-chain-cut", 1, chain.utf8.dropLast(40))
        let pkcs7 = try openssl.output([
            "crl2pkcs7", "-nocrl", "-certfile", server.file, "-certfile", authority.root.file, "-outform", "DER",
        ])
        try write("bundle-pkcs7", 1, pkcs7)
        for (name, words) in [
            ("modern", []), ("legacy", ["-legacy"]), ("plain", ["-nomac", "-keypbe", "NONE", "-certpbe", "NONE"]),
        ] {
            let file = try openssl.output(
                [
                    "pkcs12", "-export", "-passout", "pass:pw", "-in", server.file, "-inkey", server.keyFile, "-name",
                    "a",
                ] + words)
            try write("pkcs12-\(name)", 2, file)
        }
        for (index, name) in ["example.com", "192.0.2.1", "[2001:db8::1]", "a..b", "xn--bcher-kva.example."]
            .enumerated()
        {
            try write("name-\(index)", 3, name.utf8)
        }
        let certificate = try Certificate(der: Array(rich.der))
        try write("subject", 5, certificate.subject.der)
        var evaluation = TrustEvaluation([certificate], policies: [.basicX509], at: 1_780_000_000)
        evaluation.isAnchorsOnly = true
        let revocation = try OpenSSLRevocation(authority, revoked: [rich], others: [server])
        for (name, issued) in [("revoked", rich), ("good", server)] {
            let pair = [authority.intermediate.der, issued.der].flatMap {
                [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + Array($0)
            }
            let scope = "issuingDistributionPoint=critical,@scope\n[scope]\nfullname=URI:http://crl.example/a\n"
            for (kind, extensions) in [("list", ""), ("scoped-list", scope)] {
                try write(
                    "\(kind)-\(name)", 6,
                    pair + revocation.listBytes(by: authority.intermediate, extensions: extensions))
            }
            let answer = try Data(
                contentsOf: URL(
                    filePath: revocation.answer(
                        about: issued, of: authority.intermediate, signer: authority.intermediate)))
            try write("answer-\(name)", 7, pair + answer)
        }
        var settings = TrustSettings()
        settings.set(
            [
                TrustSetting(.deny, policy: .server, name: "example.com"),
                TrustSetting(.unspecified, allowedError: .expired),
            ],
            of: certificate, at: 1_780_000_000)
        try write("settings", 8, settings.propertyList())
        try write("exceptions", 4, evaluation.verdict().exceptions?.bytes ?? [1])
    }
}
