// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import SecretScan
import Testing

@Suite("Private keys of real programs")
struct KeyScanTests {
    /// Runs a script in a directory of its own, and returns the findings in a file that it makes.
    private func made(_ commands: String) throws -> (String) throws -> [SecretFinding] {
        let reports = try reports(commands)
        return { name in try reports(name).findings }
    }

    private func reports(_ commands: String) throws -> (String) throws -> ScanReport {
        let directory = try TemporaryDirectory()
        let script = "cd \"$1\" && \(commands)"
        let outcome = try Executable.run("/bin/sh", ["-ec", script, "sh", directory.path], home: directory.path)
        #expect(outcome.status == 0, "\(outcome)")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        let contents = try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, [UInt8](try Data(contentsOf: URL(filePath: "\(directory.path)/\(name)"))))
            })
        return { name in SecretScanner().scan(try #require(contents[name]), name: name) }
    }

    @Test("Keys of openssl and ssh-keygen are findings in each form, and encrypted ones are not")
    func keys() throws {
        let findings = try made(
            """
            openssl genrsa -out pkcs8.pem 2048
            openssl rsa -in pkcs8.pem -traditional -out pkcs1.pem
            openssl pkcs8 -topk8 -in pkcs8.pem -passout pass:long-Passphrase-17 -out encrypted.pem
            openssl rsa -in pkcs8.pem -traditional -aes128 -passout pass:long-Passphrase-17 -out encrypted1.pem
            openssl pkcs8 -topk8 -nocrypt -in pkcs8.pem -outform DER -out pkcs8.der
            openssl ecparam -genkey -noout -name prime256v1 -out ec.pem
            openssl ec -in ec.pem -outform DER -out ec.der
            openssl genpkey -algorithm ed25519 -out ed25519.pem
            openssl rsa -in pkcs8.pem -pubout -out public.pem
            ssh-keygen -q -t ed25519 -N '' -f plain
            ssh-keygen -q -t ed25519 -N long-Passphrase-17 -f locked
            """)
        for name in ["pkcs8.pem", "pkcs1.pem", "pkcs8.der", "ec.pem", "ec.der", "ed25519.pem", "plain"] {
            #expect(try findings(name).map(\.kind.id) == ["private-key"], "\(name)")
        }
        for name in ["encrypted.pem", "encrypted1.pem", "public.pem", "locked", "plain.pub"] {
            #expect(try findings(name).isEmpty, "\(name)")
        }
    }

    @Test("A PKCS #12 file is a finding if it has a usual password or none")
    func archives() throws {
        let reports = try reports(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out certificate.pem -subj /CN=a -days 9
            for password in '' changeit; do
                openssl pkcs12 -export -in certificate.pem -inkey key.pem -passout "pass:$password" -out "weak$password.p12"
            done
            openssl pkcs12 -export -in certificate.pem -inkey key.pem -passout pass:x8Kd02q-lpA7 -out strong.p12
            openssl pkcs12 -export -in certificate.pem -nokeys -passout pass: -out certificates.p12
            openssl pkcs12 -export -in certificate.pem -inkey key.pem -passout pass:changeit -iter 200000 -out many.p12
            """)
        func findings(_ name: String) throws -> [SecretFinding] { try reports(name).findings }
        #expect(try findings("weak.p12").map(\.kind.id) == ["pkcs12"])
        #expect(try findings("weakchangeit.p12").map(\.kind.id) == ["pkcs12"])
        // Too much work for a scan: named, and not left out in silence.
        let many = try reports("many.p12")
        #expect(many.findings.isEmpty && many.problems.map(\.names) == [["many.p12"]])
        #expect(try findings("strong.p12").isEmpty && findings("certificates.p12").isEmpty)
    }
}
