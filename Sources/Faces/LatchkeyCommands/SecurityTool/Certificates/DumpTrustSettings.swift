// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// `security dump-trust-settings`.
enum DumpTrustSettings: SecurityCommand {
    static let definition = CommandDefinition(
        name: "dump-trust-settings", summary: "Show the trusted and distrusted certificates with their settings.",
        options: [
            CommandOption("-s", help: "the system's anchors"),
            CommandOption("-d", help: "the administrator's settings"),
        ], examples: ["dump-trust-settings", "dump-trust-settings -s"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        if arguments.contains("-s") {
            return try session.write(TrustSettingsText.lines(SystemAnchors.shared.load().certificates.map { ($0, []) }))
        }
        let entries = try TrustSettingsDomain(arguments).load().entries
        guard !entries.isEmpty else { throw .line("SecTrustSettingsCopyCertificates: No Trust Settings were found.") }
        try session.write(TrustSettingsText.lines(entries.map { ($0.certificate, $0.settings) }))
    }
}
