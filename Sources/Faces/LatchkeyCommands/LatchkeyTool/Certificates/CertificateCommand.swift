// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey certificate`.
struct CertificateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.certificate.rawValue, abstract: LatchkeySubcommand.certificate.abstract,
        discussion: """
            EXAMPLES:
              latchkey certificate inspect server.pem
              latchkey certificate inspect --json /etc/ssl/certs/ca-certificates.crt
              latchkey certificate expiring --days 60
              latchkey certificate renew --self-signed localhost
            """,
        subcommands: [CertificateInspect.self, CertificateExpiring.self, CertificateRenew.self])
}
