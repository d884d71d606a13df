// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import SecretScan
import Testing

@Suite("Values with a secret's name")
struct ValueScanTests {
    private func findings(_ text: String, _ name: String) -> [SecretFinding] {
        SecretScanner().scan(Array(text.utf8), name: name).findings
    }

    @Test("A value is found in every format that has names and values", arguments: PairFormat.all.indices)
    func formats(_ index: Int) throws {
        var corpus = PlantedCorpus(seed: UInt64(index))
        let format = PairFormat.all[index]
        for name in ["password", "clientSecret", "API_KEY"] {
            let file = format.write(name, "x8Kd02q-lpA7", &corpus)
            let planted = PlantedFile(
                kind: format.title, name: file.name, bytes: file.bytes,
                expected: [
                    "named-value", "command-argument", "connection-password", "password-file", "authorization-header",
                ], log: file.log)
            #expect(try ScanCorpusTests.isFound(planted), "\(format.title): \(name)")
        }
    }

    @Test(
        "Placeholders, references, code and text are no secrets",
        arguments: [
            ("password: changeme", "a.yaml"), ("password: ${DB_PASSWORD}", "a.yaml"),
            ("password = {{ vault.password }}", "a.ini"),
            ("password=<your password>", "a.conf"), ("password: \"********\"", "a.yaml"),
            ("password: /run/secrets/db", "a.yaml"),
            ("password: latchkey://db/app", "a.yaml"), ("let password = readPassword()", "a.swift"),
            ("password = os.environ['X']", "a.py"),
            ("\"password\": \"Enter your password\"", "en.json"), ("password = user.password", "a.js"),
            ("if password == \"x8Kd02qlpA\" {", "a.swift"),
            ("The password: it must have 12 characters.", "README.md"), ("password_file = x8Kd02q-lpA7", "a.ini"),
            ("tokenizer: x8Kd02q9lpA7", "a.yaml"),
            ("password: $6$abcdefgh$0123456789abcdefghij", "a.yaml"), ("passwd: files systemd", "nsswitch.conf"),
            ("max_password: 128", "a.yaml"),
            ("password = \"p4ssw0rd\"", "a.py"), ("https://user:password@example.com/", "a.md"),
            ("https://user@db.internal/x", "a.env"),
            ("open('/etc/passwd', 'utf8')", "a.js"), ("token: Identifier", "a.swift"),
            ("public_key: x8Kd02q9lpA7x8Kd02q9", "a.yaml"),
        ])
    func ordinary(_ text: String, _ name: String) { #expect(findings(text, name).map(\.masked).isEmpty) }

    @Test("A finding has the position, the name and both ends of the secret, and never more than a quarter of it")
    func finding() throws {
        let finding = try #require(findings("[a]\n  password = x8Kd02q-lpA7Zq13\n", "a.ini").first)
        #expect(finding.place.line == 2 && finding.place.column == 14)
        #expect(finding.name == "password" && finding.masked == "x8…13")
        #expect(finding.place.names == ["a.ini"] && finding.place.encodings.isEmpty)
        #expect(try #require(findings("password = aQ3xyz\n", "a.ini").first).masked == "…")
    }

    @Test("The fingerprint stays if lines move, and changes with the kind, the name, the file and the secret")
    func fingerprint() throws {
        func fingerprint(_ text: String, _ name: String = "a.ini") throws -> String {
            try #require(findings(text, name).first).fingerprint
        }
        let first = try fingerprint("password = x8Kd02q-lpA7")
        #expect(try fingerprint("\n\n  password = x8Kd02q-lpA7\nother = 1") == first)
        #expect(try fingerprint("passwd = x8Kd02q-lpA7") != first)
        #expect(try fingerprint("password = x8Kd02q-lpA7", "b.ini") != first)
        // Eight bits of a hash: most of other secrets have another one.
        let others = try (0..<64).map { try fingerprint("password = x8Kd02q-lpB\($0)") }
        #expect(Set(others).count > 40)
    }

    @Test("Two findings of one value are one; a known form wins over a name")
    func overlap() {
        #expect(findings("api_token = glpat-A1b2C3d4E5f6G7h8I9j0", "a.ini").map(\.kind.id) == ["gitlab-token"])
        #expect(findings("url = https://me:x8Kd02q-lpA7@db.internal/?password=Zq13x8Kd02", "a.ini").count == 2)
    }
}
