// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LinuxSystem

/// `latchkey certificate inspect`.
struct CertificateInspect: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show the contents of certificates, with their fingerprints and pins.",
        discussion: """
            A pin is the SHA-256 of the public key's SubjectPublicKeyInfo in base64, like the result of:
              openssl x509 -in server.pem -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64

            EXAMPLES:
              latchkey certificate inspect server.pem
              openssl s_client -connect example.com:443 -showcerts </dev/null \\
                  | latchkey certificate inspect
            """)

    @Flag(help: "Print JSON, an array.")
    var json = false

    @Argument(help: "Files in PEM or DER; the default is standard input.", completion: .file())
    var files: [FilePath] = ["-"]

    func run(in session: CommandSession) throws(CommandFailure) {
        let reports = try CertificateFiles.read(files, in: session).map(CertificateReport.init)
        if json { return try session.write(JSONText.of(reports)) }
        try session.write(reports.map(\.text).joined(separator: "\n"))
    }
}
