// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Testing

/// `security cms` as scripts use it, with openssl as the other side.
@Suite("Message commands")
struct MessageCommandTests {
    private let keychain: TestKeychain
    private let authority: OpenSSLAuthority
    private let openssl: OpenSSL
    private let issued: OpenSSLAuthority.IssuedCertificate
    private let content: String

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        authority = try OpenSSLAuthority()
        openssl = authority.openssl
        issued = try authority.issue(
            "/CN=Alice Example", "subjectKeyIdentifier=hash\nsubjectAltName=email:alice@example.com\n",
            key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], by: authority.root)
        content = try openssl.file(Array("a letter\n".utf8))
        let archive = openssl.path("alice.p12")
        try openssl.output([
            "pkcs12", "-export", "-passout", "pass:pw", "-in", issued.file, "-inkey", issued.keyFile, "-out", archive,
        ])
        #expect(keychain.security("import \(archive) -P pw").exit == 0)
    }

    private func security(_ words: String...) -> Outcome { keychain.security(words.map { CommandWord($0) }) }

    private func verified(_ message: String, _ words: String...) throws -> String? {
        let outcome = try openssl.run(
            [
                "cms", "-verify", "-binary", "-inform", "DER", "-in", message, "-CAfile", authority.root.file,
                "-purpose", "any",
            ] + words)
        return outcome.status == 0 ? String(decoding: outcome.output, as: UTF8.self) : nil
    }

    private func signed(_ words: String...) throws -> String {
        let path = openssl.path("\(UUID().uuidString).p7m")
        try openssl.output(
            [
                "cms", "-sign", "-binary", "-outform", "DER", "-in", content, "-signer", issued.file, "-inkey",
                issued.keyFile, "-out", path,
            ] + words)
        return path
    }

    @Test(
        "openssl verifies signatures of a keychain's identity, named by common name, email address or hash", .long,
        arguments: ["-N Alice Example", "-N ALICE@example.com", "-Z"], ["SHA256", "SHA384", "SHA512"])
    func signs(_ name: String, _ hash: String) throws {
        let out = openssl.path("\(UUID().uuidString).p7m")
        let der = try openssl.output(["x509", "-in", issued.file, "-outform", "DER"])
        let digest = try openssl.output(["dgst", "-sha1", "-r", try openssl.file(der)])
        let words =
            name == "-Z"
            ? ["-Z", String(decoding: digest.prefix(40), as: UTF8.self)] : ["-N", String(name.dropFirst(3))]
        let outcome = keychain.security(
            (["cms", "-S", "-H", hash, "-G", "-i", content, "-o", out] + words).map { CommandWord($0) })
        #expect(outcome == Outcome(exit: 0, output: "", error: ""))
        #expect(try verified(out) == "a letter\n")
        #expect(security("cms", "-D", "-i", out).output == "a letter\n")
    }

    @Test("a detached signature is verified with its content, and refused with another one or without")
    func detached() throws {
        let out = openssl.path("letter.p7s")
        #expect(security("cms", "-S", "-T", "-N", "Alice Example", "-i", content, "-o", out).exit == 0)
        #expect(try verified(out, "-content", content) == "a letter\n")
        #expect(security("cms", "-D", "-n", "-c", content, "-i", out).exit == 0)
        let other = try openssl.file(Array("another letter\n".utf8))
        let refused = security("cms", "-D", "-c", other, "-i", out)
        #expect(refused.exit == 1 && refused.output.isEmpty)
        #expect(refused.error.contains("the content has another digest than the one that was signed"))
        let missing = security("cms", "-D", "-i", out)
        #expect(missing.exit == 1 && missing.error == "security: cms: the content is not in the message (-c FILE)\n")
    }

    @Test("a message of openssl, in DER or BER, is printed; an untrusted certificate is only a warning")
    func decodes() throws {
        for words in [["-nodetach"], ["-nodetach", "-stream"], ["-nodetach", "-noattr"]] {
            let path = openssl.path("\(UUID().uuidString).p7m")
            try openssl.output(
                [
                    "cms", "-sign", "-binary", "-outform", "DER", "-in", content, "-signer", issued.file, "-inkey",
                    issued.keyFile, "-out", path,
                ] + words)
            let outcome = security("cms", "-D", "-i", path)
            #expect(outcome.exit == 0 && outcome.output == "a letter\n")
            #expect(outcome.error.hasPrefix("security: warning: the certificate of signer 0 is not trusted: "))
            #expect(security("-q", "cms", "-D", "-i", path).error.isEmpty)
            let header = security("cms", "-D", "-h", "0", "-n", "-i", path)
            #expect(
                header.output
                    == "SMIME: level=0; type=signedData; nsigners=1; signer0.id=\"Alice Example\"; signer0.status=GoodSignature\n\n"
            )
        }
    }

    @Test("with -u an untrusted certificate and a weak signature are refused")
    func usage() throws {
        let message = try signed("-nodetach")
        let refused = security("cms", "-D", "-u", "4", "-i", message)
        #expect(refused.exit == 1 && refused.output.isEmpty)
        #expect(refused.error.contains("the certificate of signer 0 is not trusted: "))
        let weak = try signed("-nodetach", "-md", "sha1")
        #expect(security("cms", "-D", "-u", "4", "-i", weak).exit == 1)
        let warned = security("cms", "-D", "-i", weak)
        #expect(warned.exit == 0 && warned.output == "a letter\n" && warned.error.contains("SHA-1 is not secure"))
        #expect(security("cms", "-D", "-u", "12", "-i", message).exit == 2)
    }

    @Test("a changed message and bytes that are no message print nothing and exit with 1")
    func refuses() throws {
        let message = try signed("-nodetach")
        var bytes = Array(try Data(contentsOf: URL(filePath: message)))
        let position = try #require(bytes.indices.first { bytes[$0...].starts(with: "a letter".utf8) })
        bytes[position] = UInt8(ascii: "b")
        let changed = security("cms", "-D", "-i", try openssl.file(bytes))
        #expect(changed.exit == 1 && changed.output.isEmpty && changed.error.contains("signer 0 is not valid"))
        let text = security("cms", "-D", "-i", content)
        #expect(text.exit == 1 && text.output.isEmpty && text.error.hasPrefix("security: cms: not a CMS message: "))
        let missing = security("cms", "-D", "-i", "/nowhere/message")
        #expect(missing.exit == 1 && missing.error.hasPrefix("security: cms: "))
    }

    @Test("a message is encrypted for certificates of the keychain, and decrypted with its keys")
    func encrypts() throws {
        let out = openssl.path("letter.p7e")
        #expect(security("cms", "-E", "-r", "alice@example.com", "-i", content, "-o", out).exit == 0)
        let opened = try openssl.output([
            "cms", "-decrypt", "-binary", "-inform", "DER", "-in", out, "-recip", issued.file, "-inkey",
            issued.keyFile,
        ])
        #expect(opened == Array("a letter\n".utf8))
        #expect(security("cms", "-D", "-i", out) == Outcome(exit: 0, output: "a letter\n", error: ""))
        let reply = openssl.path("reply.p7e")
        try openssl.output([
            "cms", "-encrypt", "-aes-256-cbc", "-binary", "-in", content, "-outform", "DER", "-out", reply, issued.file,
        ])
        #expect(security("cms", "-D", "-i", reply).output == "a letter\n")
        let stranger = try authority.issue("/CN=stranger", "subjectKeyIdentifier=hash\n", by: authority.root)
        try openssl.output([
            "cms", "-encrypt", "-aes-256-cbc", "-binary", "-in", content, "-outform", "DER", "-out", reply,
            stranger.file,
        ])
        #expect(security("cms", "-D", "-i", reply).exit == 44)
        #expect(security("cms", "-E", "-r", "nobody@example.com", "-i", content, "-o", out).exit == 44)
    }

    @Test("an unsupported option is refused by name, and a wrong command line shows the usage")
    func refusedOptions() throws {
        #expect(
            security("cms", "-C", "-i", content)
                == Outcome(
                    exit: 1, output: "",
                    error: "security: cms: EncryptedData (-C) is not supported by this version\n"))
        #expect(security("cms", "-S", "-N", "Alice Example", "-H", "SHA1", "-i", content).exit == 1)
        #expect(security("cms", "-S", "-N", "Nobody", "-i", content).exit == 44)
        for words in [["cms"], ["cms", "-D", "-S"], ["cms", "-S"], ["cms", "-E"], ["cms", "-D", "file"]] {
            let outcome = keychain.security(words.map { CommandWord($0) })
            #expect(outcome.exit == 2 && outcome.output.isEmpty && outcome.error.contains("usage: security cms"))
        }
    }
}
