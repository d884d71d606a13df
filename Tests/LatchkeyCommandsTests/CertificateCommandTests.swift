// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Synchronization
import Testing

/// `verify-cert`, `latchkey certificate inspect` and `latchkey trust explain`, with certificates
/// made by openssl.
@Suite("Certificate commands")
struct CertificateCommandTests {
    private let keychain: TestKeychain
    private let authority: OpenSSLAuthority
    private let server: OpenSSLAuthority.IssuedCertificate

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        authority = try OpenSSLAuthority()
        server = try authority.server("example.com")
    }

    private func verify(_ words: String) -> Outcome { keychain.security("verify-cert \(words)") }

    private var chain: String { "-c \(server.file) -c \(authority.intermediate.file)" }
    private var trusted: String { "-r \(authority.root.file)" }

    @Test("a trusted certificate prints one line and succeeds")
    func success() {
        let expected = Outcome(exit: 0, output: "...certificate verification successful.\n", error: "")
        #expect(verify("\(chain) \(trusted)") == expected)
        for words in ["-p ssl -n example.com", "-p ssl -s EXAMPLE.com -L -N", "-s example.com"] {
            let outcome = verify("\(chain) \(trusted) \(words)")
            #expect(outcome.exit == 0 && outcome.output == expected.output)
            // The policy of a host is named.
            #expect(outcome.error.contains("; trust in the anchors of \(authority.root.file)"), "\(outcome.error)")
            #expect(outcome.error.split(separator: "\n").count == 1)
        }
        #expect(verify("\(chain) \(trusted) -s example.com -q") == Outcome(exit: 0, output: "", error: ""))
    }

    @Test("each rejection prints its name, the expected and found value, and exits with 1")
    func refusals() throws {
        let expired = try authority.server("old.example.com", days: -1)
        let own = try authority.issue("/CN=example.com", OpenSSLAuthority.server("DNS:example.com"), by: nil)
        let client = OpenSSLAuthority.server("DNS:example.com").replacingOccurrences(
            of: "serverAuth", with: "clientAuth")
        let other = try authority.issue("/CN=example.com", client, by: authority.intermediate)
        for (words, name, sentence) in [
            (
                "\(chain) \(trusted) -p ssl -n example.org", "CSSMERR_APPLETP_HOSTNAME_MISMATCH",
                "not for example.org"
            ),
            (
                "\(chain) -p ssl -n example.com", "CSSMERR_TP_NOT_TRUSTED",
                "issuer not found or not trusted: CN=Test root"
            ),
            (
                "-c \(server.file) \(trusted)", "CSSMERR_TP_NOT_TRUSTED",
                "issuer not found or not trusted: CN=Test intermediate"
            ),
            (
                "-c \(own.file) \(trusted) -s example.com", "CSSMERR_TP_NOT_TRUSTED",
                "self-issued, and not a trusted anchor"
            ),
            (
                "-c \(expired.file) -c \(authority.intermediate.file) \(trusted)", "CSSMERR_TP_CERT_EXPIRED",
                "expired at"
            ),
            (
                "\(chain) \(trusted) -d 2020-01-01", "CSSMERR_TP_CERT_NOT_VALID_YET",
                "the validation time is 2020-01-01T00:00:00Z"
            ),
            (
                "\(chain) \(trusted) -d 2099-01-02-03:04:05", "CSSMERR_TP_CERT_EXPIRED",
                "the validation time is 2099-01-02T03:04:05Z"
            ),
            (
                "-c \(other.file) -c \(authority.intermediate.file) \(trusted) -p ssl",
                "CSSMERR_APPLETP_INVALID_EXTENDED_KEY_USAGE",
                "lack serverAuth"
            ),
            ("\(chain) \(trusted) -p ssl -C", "CSSMERR_APPLETP_INVALID_EXTENDED_KEY_USAGE", "lack clientAuth"),
            (
                "\(chain) \(trusted) -e a@example.com", "CSSMERR_APPLETP_INVALID_EXTENDED_KEY_USAGE",
                "lack emailProtection"
            ),
        ] {
            let outcome = verify(words)
            #expect(outcome.exit == 1 && outcome.output.isEmpty, "\(words)")
            #expect(
                outcome.error.hasPrefix("Cert Verify Result: \(name)\nsecurity: the certificate of "),
                "\(outcome.error)")
            #expect(outcome.error.contains(sentence), "\(outcome.error)")
            #expect(verify("\(words) -q") == Outcome(exit: 1, output: "", error: ""))
        }
        // A self-signed certificate that is its own anchor is trusted for its own name only.
        #expect(verify("-c \(own.file) -r \(own.file) -s example.com").exit == 0)
        #expect(verify("-c \(own.file) -r \(own.file) -s example.org").exit == 1)
    }

    @Test("a CA certificate is accepted as a server's only with -l")
    func authorities() throws {
        let both = OpenSSLAuthority.server("DNS:example.com").replacingOccurrences(
            of: "CA:FALSE", with: "critical,CA:TRUE")
        let issued = try authority.issue("/CN=example.com", both, by: authority.intermediate)
        let words = "-c \(issued.file) -c \(authority.intermediate.file) \(trusted) -s example.com"
        #expect(verify(words).error.contains("errSecCertificateIsCA"))
        #expect(verify("\(words) -l").exit == 0)
        #expect(verify("\(words) -l -n example.org").exit == 1)
    }

    @Test("the chain is printed on request, also after a rejection")
    func chainOutput() throws {
        let outcome = verify("\(chain) \(trusted) -P -t")
        #expect(
            outcome.output.hasPrefix(
                "...certificate verification successful.\n---\nCertificate chain\n 0 s:CN=example.com\n"))
        let blocks = outcome.output.components(separatedBy: "-----BEGIN CERTIFICATE-----").count - 1
        #expect(blocks == 3)
        #expect(outcome.output.contains(try String(contentsOfFile: server.file, encoding: .utf8)))
        #expect(outcome.output.contains("Names:                DNS:example.com\n"))
        let refused = verify("\(chain) -P")
        #expect(refused.exit == 1 && refused.output.contains("---\nCertificate chain\n"))
        #expect(verify("\(chain) -v").output.contains("Attempt 1, without an anchor:\n"))
    }

    @Test("a certificate is rejected if a CRL or an OCSP response revokes it, or if required evidence is missing")
    func revocation() throws {
        let revocation = try OpenSSLRevocation(authority, revoked: [server], others: [])
        let list = try revocation.list(by: authority.intermediate)
        let answer = try revocation.answer(about: server, of: authority.intermediate, signer: authority.intermediate)
        for words in ["--crl \(list)", "--ocsp \(answer)", "-R crl --crl \(list)", "-R offline --ocsp \(answer)"] {
            let outcome = verify("\(chain) \(trusted) \(words)")
            #expect(
                outcome.exit == 1 && outcome.error.hasPrefix("Cert Verify Result: CSSMERR_TP_CERT_REVOKED\n"),
                "\(outcome)")
        }
        #expect(verify("\(chain) \(trusted) -R ocsp --crl \(list)").exit == 0)
        #expect(verify("\(chain) \(trusted) -R require").error.contains("errSecIncompleteCertRevocationCheck"))
        #expect(verify("\(chain) \(trusted) -R always").exit == 2)
        #expect(verify("\(chain) \(trusted) --crl \(server.file)").error.contains("no CRL found"))
        #expect(verify("\(chain) \(trusted) --ocsp \(server.file)").error.contains("not an OCSP response"))
    }

    @Test("an issuer that was not presented is found in the keychain, except with -N")
    func keychainIssuers() throws {
        let words = "-c \(server.file) \(trusted)"
        #expect(verify(words).error.contains("issuer not found or not trusted: CN=Test intermediate"))
        let other = try OpenSSLAuthority()
        #expect(keychain.security("add-certificates \(other.intermediate.file)").exit == 0)
        // The issuer with the same name has another key.
        #expect(verify(words).exit == 1)
        #expect(keychain.security("add-certificates \(authority.intermediate.file)").exit == 0)
        #expect(verify(words) == Outcome(exit: 0, output: "...certificate verification successful.\n", error: ""))
        #expect(verify("\(words) -N").error.contains("issuer not found or not trusted: CN=Test intermediate"))
        // A certificate is not an anchor because it is in the keychain.
        #expect(keychain.security("add-certificates \(authority.root.file)").exit == 0)
        #expect(verify("-c \(server.file)").error.hasPrefix("Cert Verify Result: CSSMERR_TP_NOT_TRUSTED\n"))
        let explained = keychain.latchkey("trust explain --anchors \(authority.root.file) \(server.file)")
        #expect(explained.exit == 0 && explained.output.contains("1 CN=Test intermediate"))
    }

    @Test("-R asks the certificate's OCSP responder, -L fetches nothing, and explain shows the result")
    func fetching() throws {
        let (openssl, issuer) = (authority.openssl, authority.intermediate)
        let index = Index()
        let responder = try LoopbackServer { request in
            guard let revocation = index.revocation else { return .status(503, []) }
            let answer = try revocation.answer(to: openssl.file(request.content), of: issuer, signer: issuer)
            return .content(Array(try Data(contentsOf: URL(filePath: answer))))
        }
        let place = "authorityInfoAccess=OCSP;URI:\(responder.url("/"))\n"
        let revoked = try authority.issue(
            "/CN=gone", OpenSSLAuthority.server("DNS:gone.example.com") + place, by: issuer)
        index.revocation = try OpenSSLRevocation(authority, revoked: [revoked], others: [])
        let words = "-c \(revoked.file) -c \(issuer.file) \(trusted)"
        for quiet in ["", "-L -R ocsp", "-R offline", "-R none", "-R crl"] {
            #expect(verify("\(words) \(quiet)").exit == 0, "\(quiet)")
        }
        // A CRL that cannot be read counts as none, and the verdict says so.
        let list = try LoopbackServer { _ in .content(Array("no CRL".utf8)) }
        let listed = try authority.issue(
            "/CN=listed",
            OpenSSLAuthority.server("DNS:l.example.com") + "crlDistributionPoints=URI:\(list.url("/"))\n", by: issuer)
        let malformed = verify("-c \(listed.file) -c \(issuer.file) \(trusted) -R crl")
        #expect(malformed.exit == 0 && malformed.output == "...certificate verification successful.\n")
        #expect(malformed.error.contains("warning: revocation: "), "\(malformed)")
        let report = keychain.latchkey(
            "trust explain --anchors \(authority.root.file) --revocation crl \(listed.file) \(issuer.file)")
        #expect(report.exit == 0 && report.output.hasPrefix("Revocation: "), "\(report)")
        #expect(responder.requests.isEmpty)
        let outcome = verify("\(words) -R ocsp")
        #expect(
            outcome.exit == 1 && outcome.error.hasPrefix("Cert Verify Result: CSSMERR_TP_CERT_REVOKED\n"), "\(outcome)")
        #expect(responder.requests.map(\.method) == ["POST"])
        let explain = "trust explain --anchors \(authority.root.file) \(revoked.file) \(issuer.file)"
        #expect(keychain.latchkey(explain).exit == 0)
        let explained = keychain.latchkey("\(explain) --revocation ocsp")
        #expect(
            explained.exit != 0 && explained.output.contains("revoked: revoked at 2026-01-01"), "\(explained)")
        #expect(keychain.latchkey("\(explain) --revocation often").error.contains("found 'often'"))
    }

    private final class Index: Sendable {
        private let state = Mutex<OpenSSLRevocation?>(nil)
        var revocation: OpenSSLRevocation? {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    @Test("invalid arguments and files are rejected by name")
    func understood() throws {
        #expect(
            verify("")
                == Outcome(exit: 1, output: "", error: "security: verify-cert: no certificate was given (-c FILE)\n"))
        #expect(verify("\(chain) -p eap").error.contains("the policy 'eap' is not supported"))
        #expect(verify("\(chain) -k login.keychain -N").exit == 2)
        for date in [
            "tomorrow", "2026-02-30", "2026-13-01", "2026-01-01-25:00:00", "26-1-1-1", "99999999999999999999-01-01",
        ] {
            let outcome = verify("\(chain) -d \(date)")
            #expect(outcome.exit == 206 && outcome.error.contains("'\(date)' is not a date"), "\(outcome)")
        }
        #expect(verify("-c /nowhere.pem").exit != 0)
        let nothing = try authority.openssl.file(Array("text".utf8))
        #expect(verify("-c \(nothing)").error.contains("no certificate found in"))
        // Certificates after the leaf that cannot be read are skipped with a note.
        let pem = try [server.file, authority.intermediate.file].map { try String(contentsOfFile: $0, encoding: .utf8) }
        let odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let mixed = try authority.openssl.file(Array((pem[0] + odd + pem[1]).utf8))
        let noted = verify("-c \(mixed) \(trusted)")
        #expect(
            noted.exit == 0
                && noted.error.hasPrefix(
                    "security: skipped certificate 2 (line \(pem[0].split(separator: "\n").count + 1)) of \(mixed): "),
            "\(noted)"
        )
        #expect(verify("-c \(mixed) \(trusted) -q") == Outcome(exit: 0, output: "", error: ""))
        let first = try authority.openssl.file(Array((odd + pem[0]).utf8))
        #expect(verify("-c \(first) \(trusted)").error.contains("certificate 1 (line 1) of \(first) cannot be read"))
        let half = try authority.openssl.file(try Data(contentsOf: URL(filePath: server.file)).prefix(300))
        #expect(verify("-c \(half)").error.contains("certificate 1 (line 1) of \(half) cannot be read"))
        // A file of Windows, as a leaf and as an anchor.
        let marked = try authority.openssl.file(Array(("\u{FEFF}" + pem[0]).utf8))
        let root = try authority.openssl.file(
            Array(("\u{FEFF}" + String(contentsOfFile: authority.root.file, encoding: .utf8)).utf8))
        #expect(verify("-c \(marked) -c \(authority.intermediate.file) -r \(root)").exit == 0)
        // A block that may have been a certificate is named, also in a file of anchors.
        let unknown = pem[1].replacingOccurrences(of: "CERTIFICATE", with: "CERTIFCATE")
        let strange = try authority.openssl.file(Array((unknown + pem[0]).utf8))
        let warned = verify("-c \(strange) -c \(authority.intermediate.file) \(trusted)")
        #expect(warned.exit == 0 && warned.error.contains("\(strange), line 1: a PEM block with an unknown label"))
        #expect(verify("\(chain) https://example.com").error.contains("latchkey-tls runs only"))
    }

    // MARK: latchkey

    @Test("inspect shows the same names, fingerprints and pin as openssl")
    func inspect() throws {
        let outcome = keychain.latchkey("certificate inspect \(server.file)")
        #expect(outcome.exit == 0)
        let openssl = authority.openssl
        func opensslOutput(_ words: String...) throws -> String {
            let text = String(
                decoding: try openssl.output(["x509", "-noout", "-in", server.file] + words), as: UTF8.self)
            return String(text.split(separator: "=", maxSplits: 1).last ?? "").trimmingCharacters(in: .newlines)
        }
        let fingerprint = try opensslOutput("-fingerprint", "-sha256").replacingOccurrences(of: ":", with: "")
            .lowercased()
        let older = try opensslOutput("-fingerprint", "-sha1").replacingOccurrences(of: ":", with: "").lowercased()
        let key = try openssl.file(openssl.output(["x509", "-noout", "-pubkey", "-in", server.file]))
        let info = try openssl.file(openssl.output(["pkey", "-pubin", "-in", key, "-outform", "DER"]))
        let pin = Data(try openssl.output(["dgst", "-sha256", "-binary", info])).base64EncodedString()
        for line in [
            "Subject:              CN=example.com\n", "Issuer:               CN=Test intermediate\n",
            "Names:                DNS:example.com\n",
            "Public key:           P-256\n", "Signed by:            ECDSA with SHA-256\n", "Authority:            no\n",
            "Key usage:            digitalSignature\n", "Extended usage:       serverAuth\n",
            "SHA-256:              \(fingerprint)\n",
            "SHA-1:                \(older)\n", "Pin:                  sha256/\(pin)\n",
        ] { #expect(outcome.output.contains(line), "\(line)") }
        let json = keychain.latchkey("certificate inspect --json \(server.file) \(authority.root.file)")
        let reports = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        #expect(reports.count == 2 && reports[0]["pin"] as? String == pin && reports[1]["isAuthority"] as? Bool == true)
    }

    @Test("no certificate of the system's bundle has a defect")
    func bundle() throws {
        let json = keychain.latchkey("certificate inspect --json /etc/ssl/certs/ca-certificates.crt")
        let reports = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        #expect(reports.count > 50)
        for report in reports {
            #expect(report["defects"] as? [String] == [] && report["isAuthority"] as? Bool == true)
        }
    }

    @Test("explain shows each chain that was tried and why it was rejected, then the verdict")
    func explain() throws {
        let words = "--anchors \(authority.root.file) \(server.file) \(authority.intermediate.file)"
        let good = keychain.latchkey("trust explain --host example.com \(words)")
        let applied = """
            Applied: App Transport Security without exceptions
            Applied: no pins are stored for example.com
            Applied: trust in the anchors of \(authority.root.file) and the trust settings

            """
        #expect(
            good
                == Outcome(
                    exit: 0,
                    output: "\(applied)Trusted:\n  0 CN=example.com\n  1 CN=Test intermediate\n  2 CN=Test root\n",
                    error: ""))
        let bad = keychain.latchkey("trust explain --host example.org \(words)")
        #expect(
            bad.output == """
                Attempt 1:
                  0 CN=example.com
                      serverName: it is for DNS:example.com, not for example.org
                  1 CN=Test intermediate
                  2 CN=Test root

                Applied: App Transport Security without exceptions
                Applied: no pins are stored for example.org
                Applied: trust in the anchors of \(authority.root.file) and the trust settings
                Not trusted: errSecHostNameMismatch

                """)
        #expect(bad.exit != 0 && bad.error.isEmpty)
        let json = keychain.latchkey("trust explain --json --policy client \(words)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(report["isTrusted"] as? Bool == false && report["status"] as? String == "errSecInvalidExtendedKeyUsage")
        #expect(keychain.latchkey("trust explain --policy basic \(words)").exit == 0)
        #expect(
            keychain.latchkey("trust explain --policy basic \(server.file)").output.contains(
                "issuer not found or not trusted"))
        #expect(keychain.latchkey("trust explain --policy none \(words)").error.contains("unknown policy 'none'"))
        #expect(keychain.latchkey("trust explain --host a.example --name b.example \(words)").exit != 0)
    }
}
