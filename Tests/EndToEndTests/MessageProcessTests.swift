// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `security cms` in processes of its own, with trust settings and standard input.
@Suite("Message processes")
struct MessageProcessTests {
    private let directory: TemporaryDirectory
    private let authority: OpenSSLAuthority
    private let message: String

    init() throws {
        directory = try TemporaryDirectory()
        authority = try OpenSSLAuthority()
        let signer = try authority.issue(
            "/CN=Alice Example", "subjectAltName=email:alice@example.com\n", by: authority.root)
        let openssl = authority.openssl
        message = openssl.path("letter.p7m")
        try openssl.output([
            "cms", "-sign", "-nodetach", "-binary", "-outform", "DER", "-in",
            try openssl.file(Array("a letter\n".utf8)), "-signer", signer.file, "-inkey", signer.keyFile, "-out",
            message,
        ])
    }

    private func security(_ words: String...) throws -> Executable.Outcome {
        try Executable.run(
            "latchkey", words, home: "\(directory.path)/home", environment: ["XDG_RUNTIME_DIR": directory.path],
            input: nil)
    }

    @Test("Decoding a signed message creates no keychain; with -u its certificate must be trusted for the usage")
    func usage() throws {
        let untrusted = try security("cms", "-D", "-i", message)
        #expect(untrusted.status == 0 && untrusted.output == "a letter\n")
        #expect(untrusted.error.hasPrefix("security: warning: the certificate of signer 0 is not trusted: "))
        let refused = try security("cms", "-D", "-u", "4", "-i", message)
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/home"))
        #expect(try security("add-trusted-cert", authority.root.file).status == 0)
        let trusted = try security("cms", "-D", "-u", "4", "-i", message)
        #expect(trusted.status == 0 && trusted.output == "a letter\n" && trusted.error.isEmpty)
        #expect(try security("cms", "-D", "-u", "10", "-i", message).status == 0)
        // The certificate is not for servers.
        #expect(try security("cms", "-D", "-u", "1", "-i", message).status == 1)
        let nothing = try security("cms", "-D")
        #expect(nothing.status == 1 && nothing.error.hasPrefix("security: cms: not a CMS message: "))
    }
}
