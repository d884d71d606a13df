// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `security remove-trusted-cert`.
enum RemoveTrustedCert: SecurityCommand {
    static let definition = CommandDefinition(
        name: "remove-trusted-cert", summary: "Remove the trust settings of a certificate.",
        options: [CommandOption("-d", help: "for all users, in /etc/latchkey; requires root")],
        operands: "certificate...",
        examples: ["remove-trusted-cert ca.pem"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else { throw .usage("the certificate is missing") }
        let domain = try TrustSettingsDomain(arguments)
        var settings = try domain.load()
        for certificate in try CertificateFiles.read(arguments.operands.map(\.path), in: session)
        where !settings.remove(certificate) {
            // macOS's words and exit value.
            let name = certificate.subjectSummary ?? "the certificate"
            throw .line(
                "SecTrustSettingsRemoveTrustSettings: The specified item could not be found in the keychain.",
                hint: "\(name) has no trust settings; security dump-trust-settings")
        }
        try domain.save(settings)
    }
}
