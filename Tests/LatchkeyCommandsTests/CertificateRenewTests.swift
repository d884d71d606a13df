// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `latchkey certificate renew`; openssl reads its results.
@Suite("certificate renew")
struct CertificateRenewTests {
    private let keychain: TestKeychain
    private let authority: OpenSSLAuthority
    private var openssl: OpenSSL { authority.openssl }

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        authority = try OpenSSLAuthority()
    }

    /// Stores an identity that openssl has made, under a label.
    private func store(_ issued: OpenSSLAuthority.IssuedCertificate, as label: String) throws {
        let file = openssl.path("\(UUID().uuidString).p12")
        try openssl.output([
            "pkcs12", "-export", "-passout", "pass:pw", "-in", issued.file, "-inkey", issued.keyFile, "-out", file,
            "-name", label,
        ])
        #expect(keychain.security("import \(file) -P pw").exit == 0)
    }

    /// The certificates with a common name in the keychain, the newest last, as files.
    private func certificates(_ name: String) throws -> [String] {
        let pem = keychain.security("find-certificate -a -p -c \(name)").output
        let blocks = pem.components(separatedBy: "-----END CERTIFICATE-----\n").dropLast()
        return try blocks.map { try openssl.file(Array("\($0)-----END CERTIFICATE-----\n".utf8)) }
    }

    private func text(_ file: String, _ words: String...) throws -> String {
        String(decoding: try openssl.output(["x509", "-in", file, "-noout"] + words), as: UTF8.self)
    }

    private func renew(_ words: String) -> Outcome {
        keychain.latchkey("certificate renew --no-hook-folder \(words)")
    }

    /// The old and the new certificate, in this order.
    private func pair(_ name: String, _ old: OpenSSLAuthority.IssuedCertificate) throws -> (old: String, new: String) {
        let files = try certificates(name)
        #expect(files.count == 2)
        let fingerprint = try text(old.file, "-fingerprint")
        let new = try #require(try files.first { try text($0, "-fingerprint") != fingerprint })
        return (old.file, new)
    }

    private static let keys = [
        OpenSSLAuthority.p256, ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
        ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    ]

    @Test("A self-signed certificate is renewed with the same key or a new one", .long, arguments: keys, [false, true])
    func selfSigned(_ key: [String], isNewKey: Bool) throws {
        let old = try authority.issue(
            "/C=DE/O=Example/CN=local",
            "basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
                + "subjectKeyIdentifier=hash\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n", days: 1, key: key, by: nil)
        try store(old, as: "Local")
        let outcome = renew("--self-signed --days 30 \(isNewKey ? "--new-key " : "")Local")
        #expect(outcome.exit == 0 && outcome.error.contains("renewed local, valid until "), "\(outcome)")
        let (_, new) = try pair("local", old)
        #expect(
            try text(new, "-subject", "-ext", "subjectAltName,extendedKeyUsage,keyUsage")
                == text(old.file, "-subject", "-ext", "subjectAltName,extendedKeyUsage,keyUsage"))
        #expect((try text(new, "-pubkey") == text(old.file, "-pubkey")) != isNewKey)
        #expect(try openssl.run(["verify", "-CAfile", new, "-partial_chain", new]).status == 0)
        #expect(try openssl.run(["verify", "-check_ss_sig", "-CAfile", new, new]).status == 0)
        // Both halves of the new identity are there.
        #expect(keychain.security("find-identity").output.contains("2 identities found"))
    }

    @Test("A CA in the keychain renews a certificate, and openssl verifies it", arguments: [false, true])
    func issuer(isNewKey: Bool) throws {
        let old = try authority.server("api.example.com", days: 1)
        try store(old, as: "api")
        try store(authority.intermediate, as: "Home-CA")
        let outcome = renew("--issuer Home-CA --days 20 \(isNewKey ? "--new-key " : "")api")
        #expect(outcome.exit == 0, "\(outcome)")
        let (_, new) = try pair("api.example.com", old)
        let verified = try openssl.run([
            "verify", "-x509_strict", "-CAfile", authority.root.file, "-untrusted", authority.intermediate.file,
            "-verify_hostname", "api.example.com", "-purpose", "sslserver", new,
        ])
        #expect(verified.status == 0, "\(verified.error)")
        #expect(try text(new, "-serial") != text(old.file, "-serial"))
        let notCA = renew("--issuer api api")
        #expect(notCA.exit != 0 && notCA.error.contains("is not a CA"), "\(notCA)")
        let long = renew("--issuer Home-CA --days 825 api")
        #expect(long.exit == 0, "\(long)")
    }

    @Test("A request is made for a CA, and its answer is imported")
    func request() throws {
        let old = try authority.server("api.example.com", days: 1)
        try store(old, as: "api")
        let csr = openssl.path("api.csr")
        #expect(renew("--request \(csr) --new-key api").exit == 0)
        let checked = try openssl.run(["req", "-in", csr, "-verify", "-noout", "-text"])
        let shown = String(decoding: checked.output, as: UTF8.self)
        #expect(checked.status == 0 && shown.contains("DNS:api.example.com"), "\(checked)")
        #expect(try certificates("api.example.com").count == 1)
        let answer = openssl.path("answer.pem")
        try openssl.output([
            "x509", "-req", "-in", csr, "-out", answer, "-days", "30", "-CA", authority.intermediate.file, "-CAkey",
            authority.intermediate.keyFile, "-set_serial", "77", "-copy_extensions", "copy",
        ])
        let imported = renew("--import \(answer) api")
        #expect(imported.exit == 0, "\(imported)")
        #expect(keychain.security("find-identity").output.contains("2 identities found"))
        // The certificate of another subject, or of a key that is not in the keychain.
        let stranger = try authority.server("www.example.com")
        #expect(renew("--import \(stranger.file) api").error.contains("not for CN=api.example.com"))
        let otherKey = try authority.server("api.example.com")
        #expect(renew("--import \(otherKey.file) api").exit == 44)
    }

    @Test("A dry run changes nothing, and a wrong command line is refused")
    func dryRun() throws {
        let old = try authority.server("api.example.com", days: 1)
        try store(old, as: "api")
        let dry = renew("--self-signed --dry-run --new-key api")
        #expect(dry.exit == 0 && dry.output.hasPrefix("would renew api.example.com until "), "\(dry)")
        #expect(try certificates("api.example.com").count == 1)
        for words in [
            "api", "--self-signed --issuer x api", "--self-signed --days 0 api", "--self-signed --hook x api",
        ] {
            #expect(renew(words).exit == 2, "\(words)")
        }
        #expect(renew("--self-signed nobody").exit == 44)
    }

    @Test("A key that cannot sign certificates is refused before a new key is generated")
    func weakKey() throws {
        let weak = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]
        let old = try authority.issue(
            "/CN=api.example.com", OpenSSLAuthority.server("DNS:api.example.com"), key: weak, by: authority.intermediate
        )
        try store(old, as: "api")
        for mode in ["--self-signed", "--request \(openssl.path("weak.csr"))"] {
            let outcome = renew("\(mode) --new-key api")
            #expect(outcome.exit == 206 && outcome.error.contains("cannot sign certificates"), "\(outcome)")
        }
        #expect(keychain.latchkey("key list --json").output.components(separatedBy: "\"private\"").count == 2)
    }

    // MARK: Hooks

    /// An executable script.
    private func script(_ text: String, mode: Int = 0o700, at path: String? = nil) throws -> String {
        let path = path ?? openssl.path("\(UUID().uuidString).sh")
        try Data("#!/bin/sh\n\(text)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("Hooks get the values of the renewal, and their failure is reported after it")
    func hooks() throws {
        let old = try authority.server("api.example.com", days: 1)
        try store(old, as: "api")
        let log = openssl.path("hook.log")
        let good = try script("env | grep ^LATCHKEY_RENEWED_ | sort > \(log)")
        let bad = try script("exit 7")
        let outcome = renew("--self-signed --hook \(bad) --hook \(good) --hook /nonexistent/hook api")
        #expect(outcome.exit == 1 && outcome.error.contains("the hook \(bad) has failed: exited with 7"), "\(outcome)")
        #expect(outcome.error.contains("the hook /nonexistent/hook has failed"))
        let names = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map {
            $0.prefix { $0 != "=" }
        }
        #expect(
            names == [
                "LATCHKEY_RENEWED_LABEL", "LATCHKEY_RENEWED_NOT_AFTER", "LATCHKEY_RENEWED_PIN",
                "LATCHKEY_RENEWED_PREVIOUS_SHA256", "LATCHKEY_RENEWED_SHA256", "LATCHKEY_RENEWED_SUBJECT",
            ])
        #expect(try certificates("api.example.com").count == 2)
    }
}
