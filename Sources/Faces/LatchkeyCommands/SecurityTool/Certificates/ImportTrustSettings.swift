// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// `security trust-settings-import`.
enum ImportTrustSettings: SecurityCommand {
    static let definition = CommandDefinition(
        name: "trust-settings-import", summary: "Replace the trust settings with those of a file.",
        options: [CommandOption("-d", help: "for all users, in /etc/latchkey; requires root")], operands: "file",
        notes: [
            """
            Certificates that are missing in the file are searched for in the keychain and among the system's anchors.
            """
        ], examples: ["trust-settings-import settings.plist"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let file = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("the file is missing")
        }
        let domain = try TrustSettingsDomain(arguments)
        let known = try CertificateItems.all(in: session.keychain()).map(\.certificate)
        let settings = try TrustSettingsText.read(file.path, known: known + SystemAnchors.shared.load().certificates)
        try domain.save(settings)
        session.io.say("...Trust Settings imported successfully.\n")
    }
}
