// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// Reads and writes trust settings as property lists, and formats them as text.
enum TrustSettingsText {
    static func read(_ path: FilePath, known: [Certificate]) throws(CommandFailure) -> TrustSettings {
        let bytes = try KeyFileIO.read(path).withUnsafeBytes { Array($0) }
        do throws(CertificateError) { return try TrustSettings(propertyList: bytes, known: known) } catch {
            throw .status(KeychainError(TrustSettingsDomain.damaged, "\(path): \(error)"))
        }
    }

    static func write(_ settings: TrustSettings, to path: FilePath, replaces: Bool, in session: CommandSession)
        throws(CommandFailure)
    {
        let bytes: [UInt8]
        do throws(CertificateError) { bytes = try settings.propertyList() } catch {
            throw .status(KeychainError(.internalFailure, error.description))
        }
        try KeyFileIO.write(SharedSecret(copying: bytes), to: path, replaces: replaces, in: session)
    }

    /// Returns the lines of `dump-trust-settings` (keychain-behaviour §8.2).
    static func lines(_ certificates: [(certificate: Certificate, settings: [TrustSetting])]) -> TerminalText {
        var text: TerminalText = "Number of trusted certs = \(certificates.count)\n"
        for (index, entry) in certificates.enumerated() {
            text += "Cert \(index): \(entry.certificate.subjectSummary ?? entry.certificate.subject.description)\n"
            text += "   Number of trust settings : \(entry.settings.count)\n"
            for (number, setting) in entry.settings.enumerated() {
                text += "   Trust Setting \(number):\n"
                if let policy = setting.policy { text += "      Policy OID            : \(policy.rawValue)\n" }
                if let name = setting.name { text += "      Policy String         : \(name)\n" }
                if let rule = setting.allowedError { text += "      Allowed Error         : \(rule.traditionalName)\n" }
                let result = "\(setting.result)"
                text +=
                    "      Result Type           : kSecTrustSettingsResult\(result.prefix(1).uppercased())\(result.dropFirst())\n"
            }
        }
        return text
    }
}
