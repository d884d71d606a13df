// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// Trust settings that commands make in separate processes, and that programs and commands apply.
@Suite("Trust settings commands")
struct TrustSettingsCommandTests {
    private let directory: TemporaryDirectory
    private let authority: OpenSSLAuthority
    private let server: OpenSSLAuthority.IssuedCertificate

    init() throws {
        directory = try TemporaryDirectory()
        authority = try OpenSSLAuthority()
        server = try authority.server("example.com")
    }

    private func security(_ words: String...) throws -> Executable.Outcome {
        try Executable.run(
            "latchkey", words, home: "\(directory.path)/home", environment: ["XDG_RUNTIME_DIR": directory.path],
            input: nil)
    }

    private func verify(_ host: String = "example.com") throws -> Executable.Outcome {
        try security("verify-cert", "-c", server.file, "-c", authority.intermediate.file, "-p", "ssl", "-n", host)
    }

    @Test("A trusted certificate stays trusted until it is removed or denied")
    func life() throws {
        // The certificate is not trusted; searching the keychain for issuers does not create a
        // keychain.
        #expect(try security("verify-cert", "-c", server.file, "-r", authority.root.file).status == 1)
        #expect(try verify().status == 1)
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/home"))
        #expect(try security("dump-trust-settings").error.contains("No Trust Settings were found"))
        #expect(try security("add-trusted-cert", authority.root.file).status == 0)
        #expect(try verify().status == 0)
        #expect(try verify("example.org").error.contains("CSSMERR_APPLETP_HOSTNAME_MISMATCH"))
        #expect(
            try security("dump-trust-settings").output == """
                Number of trusted certs = 1
                Cert 0: Test root
                   Number of trust settings : 1
                   Trust Setting 0:
                      Result Type           : kSecTrustSettingsResultTrustRoot

                """)
        let explained = try security(
            "trust", "explain", "--host", "example.com", server.file, authority.intermediate.file)
        #expect(explained.status == 0, "\(explained)")
        #expect(
            explained.output.hasPrefix("Applied: ") && explained.output.contains("\nTrusted:\n"), "\(explained)")
        #expect(
            try security("add-trusted-cert", "-r", "deny", "-p", "ssl", "-s", "example.com", server.file).status == 0)
        let denied = try verify()
        #expect(
            denied.status == 1
                && denied.error.hasPrefix("SecTrustEvaluate result: kSecTrustResultDeny\nsecurity: the certificate of ")
        )
        #expect(try security("remove-trusted-cert", server.file).status == 0)
        #expect(try verify().status == 0)
        #expect(try security("remove-trusted-cert", authority.root.file).status == 0)
        #expect(try verify().status == 1)
        let again = try security("remove-trusted-cert", authority.root.file)
        let text = "SecTrustSettingsRemoveTrustSettings: The specified item could not be found in the keychain.\n"
        #expect(again.status == 1 && again.error.hasPrefix(text), "\(again)")
    }

    @Test("A certificate that is not one of Apple's roots changes nothing")
    func appleRoots() throws {
        for options in [[], ["--dry-run"], ["--json"]] {
            let outcome = try Executable.run(
                "latchkey", ["trust", "apple-roots"] + options + [authority.root.file], home: "\(directory.path)/home")
            #expect(outcome.status == 206 && outcome.error.contains("is not one of Apple's roots"), "\(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/home"))
    }

    @Test("Settings are exported and imported as files; existing settings are kept or replaced as a whole")
    func files() throws {
        #expect(try security("add-trusted-cert", authority.root.file).status == 0)
        let file = "\(directory.path)/settings.plist"
        #expect(try security("trust-settings-export", file).status == 0)
        #expect(try security("trust-settings-export", file).status != 0)
        #expect(try security("remove-trusted-cert", authority.root.file).status == 0)
        #expect(try security("trust-settings-export", "\(file).2").error.contains("there are no trust settings"))
        #expect(try security("trust-settings-import", file).status == 0)
        #expect(try verify().status == 0)
        try Data("text".utf8).write(to: URL(filePath: "\(file).3"))
        let refused = try security("trust-settings-import", "\(file).3")
        #expect(
            refused.status != 0 && refused.error.contains("not an XML property list of trust settings"))
        #expect(try verify().status == 0)
        // A file of settings can be created without changing a keychain.
        let other = "\(directory.path)/other.plist"
        #expect(try security("add-trusted-cert", "-r", "trustAsRoot", "-o", other, server.file).status == 0)
        #expect(try security("add-trusted-cert", "-i", other, authority.root.file).status == 0)
        #expect(try security("trust-settings-import", other).status == 0)
        #expect(try security("dump-trust-settings").output.hasPrefix("Number of trusted certs = 2\n"))
    }

    @Test("Invalid settings are rejected with the reason")
    func refusals() throws {
        #expect(try security("add-trusted-cert", server.file).error.contains("is not self-signed"))
        #expect(
            try security("add-trusted-cert", "-p", "eap", authority.root.file).error.contains(
                "the policy 'eap' is not supported"))
        #expect(
            try security("add-trusted-cert", "-e", "-67688", authority.root.file).error.contains(
                "cannot be allowed"))
        #expect(try security("add-trusted-cert", "-r", "always", authority.root.file).status == 2)
        #expect(try security("add-trusted-cert").status == 2)
        let text = "\(directory.path)/home/data/trust-settings.plist"
        #expect(try security("add-trusted-cert", "-k", "login.keychain", authority.root.file).status == 0)
        #expect(try security("find-certificate", "-c", "Test root").status == 0)
        try Data("damaged".utf8).write(to: URL(filePath: text))
        #expect(try verify().status == 1)
        #expect(try security("dump-trust-settings").error.contains("not an XML property list of trust settings"))
        #expect(try security("dump-trust-settings", "-s").output.hasPrefix("Number of trusted certs = "))
    }
}
