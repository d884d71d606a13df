// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// `security trust-settings-export`.
enum ExportTrustSettings: SecurityCommand {
    static let definition = CommandDefinition(
        name: "trust-settings-export", summary: "Write trust settings to a file, as a property list.",
        options: [
            CommandOption("-s", help: "the system's anchors"),
            CommandOption("-d", help: "the administrator's settings"),
        ], operands: "file",
        notes: ["The format is macOS's, with the bytes of each certificate added. The file must not exist."],
        examples: ["trust-settings-export settings.plist"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let file = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("the file is missing")
        }
        var settings = TrustSettings()
        if arguments.contains("-s") {
            for certificate in SystemAnchors.shared.load().certificates { settings.set([], of: certificate, at: 0) }
        } else {
            settings = try TrustSettingsDomain(arguments).load()
        }
        guard !settings.entries.isEmpty else {
            throw .status(KeychainError(TrustSettingsDomain.none), of: "SecTrustSettingsCreateExternalRepresentation")
        }
        try TrustSettingsText.write(settings, to: file.path, replaces: false, in: session)
        session.io.say("...Trust Settings exported successfully.\n")
    }
}
