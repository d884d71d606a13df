// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Testing

/// Scripts import, find, export and delete certificates and identities; openssl is the other side.
@Suite("Identity commands")
struct IdentityCommandTests {
    private let keychain: TestKeychain
    private let authority: OpenSSLAuthority
    private let issued: OpenSSLAuthority.IssuedCertificate
    private let openssl: OpenSSL

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        authority = try OpenSSLAuthority()
        openssl = authority.openssl
        issued = try authority.server("example.com")
    }

    /// Returns a PKCS #12 file made by openssl.
    private func archive(_ words: String...) throws -> String {
        let path = openssl.path("\(UUID().uuidString).p12")
        try openssl.output(
            [
                "pkcs12", "-export", "-passout", "pass:pw", "-in", issued.file, "-inkey", issued.keyFile, "-out", path,
                "-name", "Mine",
            ]
                + words)
        return path
    }

    private func pem(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> String {
        let text = try String(contentsOfFile: issued.file, encoding: .utf8)
        return try #require(text.range(of: "-----BEGIN").map { String(text[$0.lowerBound...]) })
    }

    private func sha1(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> String {
        let text = String(
            decoding: try openssl.output(["x509", "-noout", "-fingerprint", "-sha1", "-in", issued.file]), as: UTF8.self
        )
        return (text.split(separator: "=").last ?? "").replacingOccurrences(of: ":", with: "").trimmingCharacters(
            in: .newlines)
    }

    @Test(
        "an identity made by openssl, modern or legacy, is imported, found, exported and deleted", .long,
        arguments: [false, true])
    func life(_ isLegacy: Bool) throws {
        let words = ["-certfile", authority.intermediate.file] + (isLegacy ? ["-legacy"] : [])
        let file = openssl.path("identity.p12")
        try openssl.output(
            ["pkcs12", "-export", "-passout", "pass:pw", "-in", issued.file, "-inkey", issued.keyFile, "-out", file]
                + words)
        #expect(
            keychain.security("import \(file) -P wrong").error.contains(
                "the passphrase is wrong, or the file was changed"))
        let imported = keychain.security("import \(file) -k login.keychain -P pw -T /usr/bin/codesign -A")
        #expect(imported == Outcome(exit: 0, output: "1 identity imported.\n1 certificate imported.\n", error: ""))
        #expect(keychain.security("import \(file) -P pw").exit == 45)
        let hash = try sha1(issued)
        let found = keychain.security("find-identity")
        #expect(
            found.output == """

                Policy: X.509 Basic
                  Matching identities
                  1) \(hash) "example.com" (CSSMERR_TP_NOT_TRUSTED)
                     1 identities found

                  Valid identities only
                     0 valid identities found

                """)
        #expect(keychain.security("find-identity -v -p codesigning").output == "     0 valid identities found\n")
        // openssl opens the exported file and finds the same key and certificates.
        let out = openssl.path("out.p12")
        let legacy = isLegacy ? "--legacy" : ""
        #expect(keychain.security("export -t identities -f pkcs12 \(legacy) -P other -o \(out)").exit == 0)
        let opening = ["pkcs12", "-in", out, "-passin", "pass:other", "-nodes"] + (isLegacy ? ["-legacy"] : [])
        let opened = String(decoding: try openssl.output(opening), as: UTF8.self)
        #expect(try opened.contains(pem(issued)) && opened.contains("friendlyName: example.com"))
        let key = try openssl.file(Array(opened.utf8))
        #expect(
            try openssl.output(["pkey", "-in", key, "-outform", "DER"])
                == openssl.output(["pkey", "-in", issued.keyFile, "-outform", "DER"]))
        #expect(keychain.security("delete-identity -c EXAMPLE.com").exit == 0)
        #expect(keychain.security("find-identity").output.contains("     0 identities found"))
        #expect(keychain.security("find-key -t private").exit == 44)
        // The exported file is imported again.
        #expect(keychain.security("import \(out) -P other").output == "1 identity imported.\n")
    }

    @Test("delete-identity also deletes a key that another certificate uses, and keeps that certificate")
    func sharedKey() throws {
        let other = openssl.path("other.pem")
        try openssl.output([
            "req", "-x509", "-new", "-key", issued.keyFile, "-subj", "/CN=other.example.org", "-days", "30", "-out",
            other,
        ])
        #expect(try keychain.security("import \(archive()) -P pw").output == "1 identity imported.\n")
        #expect(keychain.security("add-certificates \(other)").exit == 0)
        #expect(keychain.security("find-identity").output.contains("     2 identities found"))
        #expect(keychain.security("delete-identity -c example.com").exit == 0)
        #expect(keychain.security("find-identity").output.contains("     0 identities found"))
        #expect(keychain.security("find-key -t private").exit == 44)
        #expect(keychain.security("find-certificate -c example.com").exit == 44)
        #expect(keychain.security("find-certificate -c other.example.org").exit == 0)
    }

    @Test("certificates are added, found by name, email address and hash, and printed as openssl prints them")
    func certificates() throws {
        let mail = try authority.issue(
            "/CN=Alice", "subjectAltName=email:alice@example.com\nsubjectKeyIdentifier=hash\n",
            by: authority.intermediate)
        let added = keychain.security("add-certificates \(issued.file) \(mail.file) \(authority.root.file)")
        #expect(added == Outcome(exit: 0, output: "", error: ""))
        let again = keychain.security("add-certificates \(issued.file) \(authority.intermediate.file)")
        #expect(again.exit == 45 && again.error.contains("example.com: "))
        #expect(keychain.security("find-certificate -a -Z").output.components(separatedBy: "SHA-1 hash: ").count == 5)
        #expect(try keychain.security("find-certificate -c EXAMPLE.com -p").output == pem(issued))
        #expect(try keychain.security("find-certificate -e ALICE@example.com -p").output == pem(mail))
        let block = keychain.security("find-certificate -c example.com -Z -m").output
        #expect(block.hasPrefix("SHA-256 hash: "))
        #expect(try block.contains("SHA-1 hash: \(sha1(issued))\nemail addresses: \nkeychain: "))
        #expect(block.contains("\"labl\"<blob>=\"example.com\""))
        #expect(keychain.security("find-certificate -c nobody").exit == 44)
        #expect(keychain.security("find-certificate -a -c nobody") == Outcome(exit: 0, output: "", error: ""))
        #expect(keychain.security("delete-certificate").exit == 2)
        #expect(
            keychain.security("delete-certificate -c Test").error.hasPrefix("Unable to delete: 2 certificates match"))
        #expect(keychain.security("delete-certificate -c nobody").exit == 1)
        #expect(try keychain.security("delete-certificate -Z \(sha1(issued))").exit == 0)
        #expect(keychain.security("find-certificate -c example.com").exit == 44)
    }

    @Test("--pbmac1 writes a file that is imported again, and only pkcs12 has it")
    func integrityCheck() throws {
        #expect(try keychain.security("import \(archive()) -P pw").exit == 0)
        let file = openssl.path("pbmac1.p12")
        let words = "export -t identities -f pkcs12 -P other -o \(file)"
        #expect(keychain.security("\(words) --pbmac1 --legacy").exit == 2)
        #expect(keychain.security("export -t certs -f x509 --pbmac1").exit == 2)
        #expect(keychain.security("\(words) --pbmac1").exit == 0)
        let bytes = try Data(contentsOf: URL(filePath: file))
        // id-PBMAC1.
        let identifier = Data([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0E])
        #expect(bytes.range(of: identifier) != nil)
        let other = try TestKeychain(.ephemeral)
        #expect(other.security("import \(file) -P wrong").exit != 0)
        #expect(other.security("import \(file) -P other").output.contains("1 identity"))
    }

    @Test("certificates are exported as PEM, DER and PKCS #7, and imported from each")
    func formats() throws {
        keychain.security("add-certificates \(issued.file) \(authority.root.file)")
        let both = try pem(issued) + pem(authority.root)
        #expect(keychain.security("export -t certs").output == both)
        #expect(keychain.security("export -t certs -f x509 -p").output == both)
        #expect(
            keychain.security("export -t certs -f x509").error.contains("x509 holds one certificate, but 2 were found"))
        for isPEM in [false, true] {
            let file = openssl.path("certificates.p7\(isPEM ? "p" : "")")
            #expect(keychain.security("export -t certs -f pkcs7 \(isPEM ? "-p" : "") -o \(file)").exit == 0)
            let form = ["-inform", isPEM ? "PEM" : "DER"]
            let told = String(
                decoding: try openssl.output(["pkcs7", "-in", file, "-print_certs"] + form), as: UTF8.self)
            #expect(try told.contains(pem(issued)) && told.contains(pem(authority.root)))
            let other = try TestKeychain(.ephemeral)
            #expect(other.security("import \(file)").output == "2 certificates imported.\n")
        }
        let theirs = openssl.path("theirs.p7")
        try openssl.output([
            "crl2pkcs7", "-nocrl", "-certfile", issued.file, "-certfile", authority.root.file, "-out", theirs,
        ])
        let other = try TestKeychain(.ephemeral)
        #expect(other.security("add-certificates \(theirs)").exit == 0)
        let one = openssl.path("one.der")
        #expect(keychain.security("export -t certs -l example.com -f x509 -o \(one)").exit == 0)
        #expect(try Data(contentsOf: URL(filePath: one)) == issued.der)
    }

    @Test("a PEM file with a key and its certificate is an identity")
    func sequences() throws {
        let both = try openssl.file(
            Array((try String(contentsOfFile: issued.keyFile, encoding: .utf8) + pem(issued)).utf8))
        #expect(keychain.security("import \(both)").output == "1 identity imported.\n")
        let other = try TestKeychain(.ephemeral)
        #expect(other.security("import \(both)").output == "1 identity imported.\n")
        #expect(other.security("find-identity").output.contains("     1 identities found"))
        let text = keychain.security("export").output
        #expect(try text.contains("PRIVATE KEY") && text.hasSuffix(pem(issued)))
        let half = try openssl.file(Array(try pem(issued).utf8.prefix(200)))
        #expect(other.security("import \(half)").error.contains("certificate 1 (line 1) of the file cannot be read"))
        #expect(try other.security("import \(openssl.file(Array("text".utf8)))").exit != 0)
        // A block with an unknown label is skipped with a warning.
        let misspelled = try pem(issued).replacingOccurrences(of: "CERTIFICATE", with: "CERTIFCATE")
        let warned = try other.security("import \(openssl.file(Array((misspelled + pem(authority.root)).utf8)))")
        #expect(
            warned.output == "1 certificate imported.\n"
                && warned.error.contains(", line 1: a PEM block with an unknown label"))
    }

    @Test(
        "a key of a kind that is not read is named with its line",
        arguments: [
            "TSS2 PRIVATE KEY", "DSA PRIVATE KEY", "ED25519 PRIVATE KEY", "RSA  PRIVATE KEY", "DSA PUBLIC KEY",
        ])
    func otherKeys(label: String) throws {
        let certificate = try pem(authority.root)
        let block = "-----BEGIN \(label)-----\nMAA=\n-----END \(label)-----\n"
        let both = try keychain.security("import \(openssl.file(Array((certificate + block).utf8)))")
        let line = certificate.split(separator: "\n").count + 1
        #expect(both.exit == 0 && both.output == "1 certificate imported.\n")
        #expect(both.error.contains(", line \(line): ") && both.error.contains("'\(label)'"), "\(both)")
        let alone = try keychain.security("import \(openssl.file(Array(block.utf8)))")
        #expect(alone.exit != 0 && alone.error.contains("keys of the kind '\(label)' are not supported"), "\(alone)")
        // So is one beside a key that is read.
        let key = try String(contentsOfFile: issued.keyFile, encoding: .utf8)
        let shown = try keychain.latchkey("key public --key-file \(openssl.file(Array((block + key).utf8)))")
        #expect(shown.exit == 0 && shown.error.contains("line 1: ") && shown.error.contains("'\(label)'"), "\(shown)")
    }

    @Test("import of an Ed25519 key of OpenSSH exits with 252, and names the supported keys")
    func ed25519() throws {
        let path = openssl.path("id_ed25519")
        try openssl.output(["-q", "-t", "ed25519", "-N", "", "-f", path], program: "/usr/bin/ssh-keygen")
        let text = """
            security: SecItemImport: keys of the kind Ed25519 (ssh-ed25519) are not supported; supported are RSA, and \
            ECDSA on P-256, P-384 and P-521
            hint: ssh-keygen -t ecdsa -f NEW

            """
        for file in [path, "\(path).pub"] {
            #expect(keychain.security("import \(file)") == Outcome(exit: 252, output: "", error: text))
        }
        #expect(keychain.security("find-key").exit == 44)
    }

    @Test(
        "-t and -f are hints: an identity file is imported with its key, as published recipes expect",
        arguments: [
            "-t cert -f pkcs12", "-f pkcs12 -t cert", "-t priv", "-t pub", "-t agg", "-f x509", "-t cert -f openssl",
            "",
        ])
    func hints(words: String) throws {
        let both = try openssl.file(
            Array((try String(contentsOfFile: issued.keyFile, encoding: .utf8) + pem(issued)).utf8))
        for file in [try archive(), both] {
            let other = try TestKeychain(.ephemeral)
            #expect(
                other.security("import \(file) \(words) -P pw -k login.keychain").output == "1 identity imported.\n")
            #expect(other.security("find-key -t private").exit == 0)
            #expect(other.security("find-identity").output.contains("     1 identities found"))
        }
        #expect(keychain.security("import \(both) -t session").exit == 252)
        #expect(keychain.security("import \(both) -t certs").exit == 2)
    }

    @Test("a key that is not extractable is skipped, and its certificate is exported")
    func notExtractable() throws {
        #expect(try keychain.security("import \(archive()) -P pw -x").exit == 0)
        let outcome = keychain.security("export -f pkcs12 -P pw -o \(openssl.path("out.p12"))")
        #expect(outcome.exit == 0 && outcome.error.contains("skipped a key that is not extractable"))
        let told = String(
            decoding: try openssl.output(["pkcs12", "-in", openssl.path("out.p12"), "-passin", "pass:pw", "-nodes"]),
            as: UTF8.self)
        #expect(told.contains("BEGIN CERTIFICATE") && !told.contains("PRIVATE KEY"))
        #expect(keychain.security("export -f pkcs12").exit == 2)
    }
}
