// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

/// `security dump-trust-settings`.
enum DumpTrustSettings: SecurityCommand {
    static let definition = CommandDefinition(
        name: "dump-trust-settings", summary: "Show which certificates are trusted or forbidden, and for what.",
        options: [
            CommandOption("-s", help: "the system's anchors"), CommandOption("-d", help: "the administrator's settings"),
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

/// `security trust-settings-export`.
enum ExportTrustSettings: SecurityCommand {
    static let definition = CommandDefinition(
        name: "trust-settings-export", summary: "Write trust settings to a file, as a property list.",
        options: [
            CommandOption("-s", help: "the system's anchors"), CommandOption("-d", help: "the administrator's settings"),
        ], operands: "file", notes: ["The list is macOS's, with the bytes of each certificate beside it. The file must not exist."],
        examples: ["trust-settings-export settings.plist"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let file = arguments.operands.first, arguments.operands.count == 1 else { throw .usage("the file is missing") }
        var settings = TrustSettings()
        if arguments.contains("-s") {
            for certificate in SystemAnchors.shared.load().certificates { settings.set([], of: certificate, at: 0) }
        } else {
            settings = try TrustSettingsDomain(arguments).load()
        }
        guard !settings.entries.isEmpty else {
            throw .status(KeychainError(TrustSettingsDomain.none), of: "SecTrustSettingsCreateExternalRepresentation")
        }
        try TrustSettingsText.write(settings, to: file.text, replaces: false, in: session)
        session.io.say("...Trust Settings exported successfully.\n")
    }
}

/// `security trust-settings-import`.
enum ImportTrustSettings: SecurityCommand {
    static let definition = CommandDefinition(
        name: "trust-settings-import", summary: "Take the trust settings of a file in place of those that are there.",
        options: [CommandOption("-d", help: "for all users, in /etc/latchkey; only root may")], operands: "file",
        notes: [
            "Certificates whose bytes the file has not are looked for in the keychain and among the system's anchors."
        ], examples: ["trust-settings-import settings.plist"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let file = arguments.operands.first, arguments.operands.count == 1 else { throw .usage("the file is missing") }
        let domain = try TrustSettingsDomain(arguments)
        let known = try CertificateItems.all(in: session.keychain(), for: session).map(\.certificate)
        let settings = try TrustSettingsText.read(file.text, known: known + SystemAnchors.shared.load().certificates)
        try domain.save(settings)
        session.io.say("...Trust Settings imported successfully.\n")
    }
}
